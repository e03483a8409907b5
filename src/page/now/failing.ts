import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { inline, relation, where } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach, countIn, sumIn } from "../parts/answers.ts";
import { block, type Empty, renderNoRows } from "../parts/block.ts";
import { html, type Markup, shorten, slugWords, targetWords } from "../parts/html.ts";
import { kindLabel, meantKinds } from "../parts/kinds.ts";
import {
  buildLink,
  keptFields,
  projectHref,
  projectLink,
  type Query,
  renderChips,
  renderPager,
  renderSelect,
  targetTag,
  withQuery,
} from "../parts/links.ts";
import { age, forLong, momentMs, momentTag } from "../parts/marks.ts";
import { findMaintainers, isMine, renderMaintainers, renderMine } from "../parts/projects.ts";
import { type Failing, lastFailed, renderFail, renderWhy, type StripRow } from "../parts/strips.ts";
import {
  askForFailing,
  askForTotals,
  type FailingKind,
  keptBy,
  type NowScope,
  type NowSpan,
  nowQuestion,
  SHOWN,
  type Shown,
  seriesOn,
  type Totals,
} from "./now-scope.ts";
import type { NowSaid } from "./verdict.ts";

const project = relation("failing_projects");
export const FAILING_PER_PAGE = 25;
const STRIP_BUILDS = 20;
const PATH = "/";
/** The rows of a page of the list that a phone shows at once. */
const PHONE_ROWS = 10;

/** The failing projects: the filters, the list by when each broke, and why it is empty. */
export const failing = block({
  id: "failing",
  narrowedBy: { show: Object.keys(SHOWN), why: null, maintainer: null, day: null },
  asks: (scope: NowScope) => ({
    rows: askForList(scope),
    kinds: askForFailing(scope, scope.mine),
    totals: askForTotals(scope),
  }),
  async draw({ rows, kinds, totals: [totals] }, scope, { of, isQuiet }: NowSaid, tx) {
    const { choice, mine, now, day } = scope;
    const { show, why, page } = choice;
    const kept = keptBy(scope);
    const sums = sumUp(kinds.filter(({ error_class }) => why === undefined || error_class === why));
    const total = show === undefined ? sums.projects : sums[show];
    const all = sumIn(kinds, "projects");
    const fails = await findFailRows(tx, rows, scope);
    const chips = (Object.keys(SHOWN) as Shown[]).map((one) => [one, SHOWN[one].label, sums[one]] as const);
    const isChosen = show !== undefined || why !== undefined;
    // A reader who has not chosen sees what fails first, also on a phone.
    const bar = html`<div class="bar${!isChosen && " last"}">${renderChips<Shown | undefined>(
      "Which of them",
      [[undefined, "All", sums.projects], ...chips],
      show,
      (show) => withQuery(PATH, { ...kept, show }),
    )}
${renderWhyForm(why, kinds, kept)}</div>`;
    return {
      title: `Failing ${of.moment}`,
      ...(day !== undefined && {
        note: "By the results and the default versions that are known now. Which builds were open then, and whether builds arrived as usual, is not known.",
      }),
      ...(isQuiet && {
        note: "As the last builds left it: nothing was built since, so nothing says what failed after.",
      }),
      count: counted(total, "project"),
      body: html`${renderMine(mine, withQuery(PATH, { ...kept, maintainer: undefined }))}
${all > 0 && bar}
${
  fails.length === 0
    ? renderNoRows(...whyNone(scope, kinds, totals, all))
    : html`${renderBuckets(fails, of, now, show === undefined && !isQuiet ? sums : null)}
${renderPager({ path: PATH, kept, page, perPage: FAILING_PER_PAGE, total, noun: "project" })}`
}`,
    };
  },
});

/** A series of a project; of a past day with when it was fixed, and nobody knows its last build. */
interface FailingSeries extends Failing {
  readonly project_id: string;
  readonly version_id: string;
  readonly first_failed_build_id: string;
  readonly recovered_at?: string | null;
}

/** A row of `report.failing_projects`: the worst series of a project. */
interface FailingProject extends FailingSeries {
  readonly project_slug: string;
  readonly newest_failing_since: string | null;
  /** The number of its series that fail. */
  readonly failing: number;
}

const LIST = nowQuestion<FailingProject>("failing_list");

function askForList(scope: NowScope): Asks<FailingProject> {
  const { choice, mine } = scope;
  const { show, why, page } = choice;
  return LIST(scope, {
    chosen: where(
      isMine(project.project_id, mine),
      show !== undefined && SHOWN[show].condition,
      why !== undefined && sql`${project.error_class} = ${why}`,
    ),
    perPage: inline(FAILING_PER_PAGE),
    from: (page - 1) * FAILING_PER_PAGE,
  });
}

/** A project with what its row shows. */
interface FailRow {
  /** The worst of its series. */
  readonly row: FailingProject;
  /** The series that broke last: it puts the row where it stands. */
  readonly newest: FailingSeries;
  /** The outcomes of the last builds of that series, the oldest first. */
  readonly outcomes: readonly string[];
  /** Beside these two. */
  readonly others: readonly FailingSeries[];
  /** Usernames; undefined where none is known, or people may not be seen. */
  readonly maintainers: readonly string[] | undefined;
}

async function findFailRows(
  tx: TransactionSql,
  list: readonly FailingProject[],
  scope: NowScope,
): Promise<FailRow[]> {
  if (list.length === 0) return [];
  const ids = list.map(({ project_id }) => project_id);
  const [found, maintainers] = await Promise.all([
    askEach(tx, { others: askForOthers(list, scope) }),
    findMaintainers(tx, ids),
  ]);
  const rows = list.map((row) => {
    const others = found.others.filter(({ project_id }) => project_id === row.project_id);
    const isNewest = ({ failing_since }: FailingSeries) => failing_since === row.newest_failing_since;
    const newest = isNewest(row) ? row : (others.find(isNewest) ?? row);
    return { row, newest, others: others.filter((other) => other !== newest) };
  });
  const newest = rows.map((one) => one.newest);
  const { strips } = await askEach(tx, {
    strips: STRIPS(scope, {
      shown: shown(newest),
      isThen: scope.day && sql` and triggered_at <= ${scope.at.toISOString()}::timestamptz`,
      most: inline(STRIP_BUILDS),
    }),
  });
  return rows.map((one) => ({
    ...one,
    outcomes: strips.find(({ project_id }) => project_id === one.row.project_id)?.outcomes ?? [],
    maintainers: maintainers?.get(one.row.project_id),
  }));
}

const SERIES_KEY = ["project_id", "version_id", "type", "first_failed_build_id"];

const shown = (series: readonly FailingSeries[]): SQL =>
  sql`json_to_recordset(${JSON.stringify(series, SERIES_KEY)}::text::json) as shown (project_id text, version_id text, type text, first_failed_build_id text)`;

const STRIPS = nowQuestion<StripRow & { readonly project_id: string }>("strips_of_failing");

const OTHERS = nowQuestion<FailingSeries>("other_failing_series");

/** The other series that fail in the projects of these, the newest break first: at most twenty of each. */
const askForOthers = (series: readonly FailingProject[], scope: NowScope): Asks<FailingSeries> =>
  OTHERS(scope, {
    shown: shown(series),
    failing:
      scope.day === undefined
        ? relation("failing_now", "failing")
        : sql`(${seriesOn(scope.day.text)}) as failing`,
  });

/** The number of projects that fail, and of these by the choices of the list, and since 24 hours ago at most. */
interface Sums extends Readonly<Record<Shown, number>> {
  readonly projects: number;
  readonly lately: number;
}

function sumUp(kinds: readonly FailingKind[]): Sums {
  const [projects, worked] = [sumIn(kinds, "projects"), sumIn(kinds, "worked")];
  return {
    projects,
    main: sumIn(kinds, "main"),
    worked,
    never: projects - worked,
    lately: sumIn(kinds, "lately"),
  };
}

/**
 * The rows under two headings: what broke in the 24 hours, and what before. `sums` counts them where that is known. A phone
 * shows the first of them, and the rest at a tap.
 */
function renderBuckets(rows: readonly FailRow[], of: NowSpan, now: Date, sums: Sums | null): Markup {
  const isLate = ({ row }: FailRow) => momentMs(row.newest_failing_since) > Date.parse(of.since);
  const [first, rest] = [rows.slice(0, PHONE_ROWS), rows.slice(PHONE_ROWS)];
  const late = rest.filter(isLate).length;
  const listed = (shown: readonly FailRow[], before: readonly FailRow[]) =>
    [true, false].map((late) => {
      const rows = shown.filter((row) => isLate(row) === late);
      const all = sums && (late ? sums.lately : sums.projects - sums.lately);
      const title = html`<h3 class="bucket">${late ? `Broke ${of.within}` : "Broke before"}
      ${" "}<span>${all !== null && `${counted(all, "project")}${late ? " still failing" : ""}, `}newest first</span></h3>`;
      return (
        rows.length > 0 &&
        html`${!before.some((row) => isLate(row) === late) && title}
<ol class="fails">${rows.map((row) => renderProject(row, now))}</ol>`
      );
    });
  const lateWords =
    late === 0
      ? ""
      : late === rest.length
        ? " broke in 24\u00a0h"
        : `, ${grouped(late)} of them broke in 24\u00a0h`;
  return html`${listed(first, [])}${
    rest.length > 0 &&
    html`
<a class="show-rest" href="#rest">${grouped(rest.length)} more${lateWords}</a>
<div class="rest-rows" id="rest">${listed(rest, first)}</div>`
  }`;
}

/** The kinds of error as a list to choose from. */
function renderWhyForm(why: string | undefined, kinds: readonly FailingKind[], kept: Query): Markup {
  const known = kinds.map(({ error_class }) => [error_class, kindLabel(error_class)] as const);
  const isKnown = why === undefined || kinds.some(({ error_class }) => error_class === why);
  const select = {
    id: "why-one",
    name: "why",
    label: "Why",
    any: "any error",
    chosen: why,
    options: isKnown ? known : [[why, shorten(why, 40)] as const, ...known],
  };
  return html`<form action="${PATH}">${keptFields({ ...kept, why: undefined })}${renderSelect(select)}<button>Show</button></form>`;
}

/** Says why the list is empty. A filter that leaves nothing says nothing about builds. */
function whyNone(
  { choice: { show, why, page }, mine, day }: NowScope,
  kinds: readonly FailingKind[],
  totals: Totals | undefined,
  failing: number,
): Empty {
  if (failing === 0 && mine !== undefined)
    return ["no-match", "No project matches.", "That says nothing about the projects of others."];
  if (failing === 0) {
    const finished = countIn(totals, "finished");
    if (day !== undefined)
      return ["none", "None found.", "The last finished build of every version and format had succeeded."];
    const of = `${counted(countIn(totals, "projects"), "project")} and ${counted(finished, "finished build")}`;
    return finished === 0
      ? ["unknown", "Not known.", "No build has finished yet."]
      : ["none", "None found.", `The last finished build of every version and format succeeded, of ${of}.`];
  }
  const classes = kinds.map(({ error_class }) => error_class);
  const hrefOf = (choice: Query) => withQuery(PATH, { ...choice, day: day?.text });
  return [
    "no-match",
    page > 1 ? "No such page." : "No project matches.",
    `That says nothing about builds: ${counted(failing, "project fails", "projects fail")} outside this choice.`,
    [
      ...(why === undefined || classes.includes(why)
        ? []
        : meantKinds(why, classes, (name) => hrefOf({ show, why: name }))),
      { href: hrefOf({}), words: `All ${grouped(failing)} that fail` },
    ],
  ];
}

function renderProject(fail: FailRow, now: Date): Markup {
  const { row, newest, outcomes, maintainers } = fail;
  const besides = html`${newest.recovered_at !== undefined && brokeThen(newest, now)}${newest !== row && renderWorst(row, now)}`;
  return renderFail(
    newest,
    {
      part: "failing in part",
      isMainFailing: row.is_main === true,
      name: html`${projectLink(row.project_slug)}${targetTag(newest)}`,
      told: html`<div class="told">${renderWhy(newest, besides)}
<div class="meta">${newest.recovered_at === undefined && lastFailed(newest)}${
        maintainers !== undefined &&
        html`<span><span class="unseen">maintained </span>by ${renderMaintainers(maintainers, 2)}</span>`
      }${renderOthers(fail, now)}</div></div>`,
      outcomes,
    },
    now,
  );
}

/** Says what is older and worse than the break that the row is about. */
const renderWorst = (row: FailingProject, now: Date): Markup =>
  html` <span class="besides">older and worse: ${row.is_main === true && "main docs, "}${targetWords(row)},
  ${forLong(row.failing_since, now)}, ${buildLink(lastBuildOf(row))}</span>`;

/** Of a past day nobody knows the last one. */
const lastBuildOf = ({ last_failed_build_id: last, first_failed_build_id: first }: FailingSeries): string =>
  last ?? first;

/** For a past day: the build that broke it, and the moment of the fix. */
const brokeThen = ({ first_failed_build_id: first, recovered_at: at }: FailingSeries, now: Date): Markup =>
  html` <span class="besides">since build ${buildLink(first)} · ${at === null ? "not fixed" : html`fixed ${momentTag(at, now)}`}</span>`;

function renderOthers({ row, newest, others }: FailRow, now: Date): Markup | false {
  const more = row.failing - (newest === row ? 1 : 2);
  const left = more - others.length;
  return (
    more > 0 &&
    html`
<details class="also"><summary>${counted(more, "more here", "more here")}
  <span class="unseen">: ${slugWords(row.project_slug)}</span></summary><ul>${others.map(
    (
      other,
    ) => html`<li>${age(other.failing_since, now)} ${targetTag(other)} <span>${kindLabel(other.error_class)}</span>
      ${" "}${buildLink(lastBuildOf(other))}</li>`,
  )}${left > 0 && html`<li><a href="${projectHref(row.project_slug)}">${left} more</a></li>`}</ul></details>`
  );
}

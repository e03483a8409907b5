import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, inline, onPage, pick, type Question, relation, where } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach, countIn, type Row, sumIn } from "../parts/answers.ts";
import { block, type Empty, renderNoRows } from "../parts/block.ts";
import { foreign, html, type Markup, shorten, slugWords, targetWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import {
  buildLink,
  keptFields,
  meantLinks,
  nearestChoices,
  projectHref,
  projectLink,
  renderChips,
  renderPager,
  targetTag,
  withQuery,
} from "../parts/links.ts";
import { age, agoWords, mark, momentMs, momentTag } from "../parts/marks.ts";
import { findMaintainers, isMine, renderMine } from "../parts/projects.ts";
import { drawStrip, lastFailed, renderWhy } from "../parts/strips.ts";
import {
  askForFailing,
  askForTotals,
  failingFrom,
  keptBy,
  type NowChoice,
  type NowScope,
  type NowSpan,
  SHOWN,
  type Shown,
  seriesOn,
} from "./now-scope.ts";
import type { NowSaid } from "./now-verdict.ts";

const build = relation("fact_builds");
const project = relation("failing_projects");
export const FAILING_PER_PAGE = 25;
const STRIP_BUILDS = 20;
/** Failures of a project that are folded below its worst. */
const MOST_FOLDED = 20;
const PATH = "/";
/** The rows of a page of the list that a phone shows at once. */
const PHONE_ROWS = 10;

/** What fails: the filters, the list by when it broke, and why it is empty. */
export const failing = block({
  id: "failing",
  narrowedBy: { show: Object.keys(SHOWN), why: null, maintainer: null, day: null },
  asks: (scope: NowScope) => ({
    rows: askForList(scope),
    failing: askForFailing(scope, scope.mine),
    totals: askForTotals(),
  }),
  async draw({ rows, failing, totals }, scope, { of, isQuiet }: NowSaid, tx) {
    const fails = await findFailRows(tx, rows, scope);
    const { choice, mine, now, day } = scope;
    const { show, why, page } = choice;
    const kept = keptBy(scope);
    const sums = sumUp(failing.filter((row) => why === undefined || row.error_class === why));
    const all = sumUp(failing);
    const total = show === undefined ? sums.projects : sums[show];
    const chips = [
      { label: "All", value: undefined, count: sums.projects },
      ...Object.entries(SHOWN).map(([value, { label }]) => ({ label, value, count: sums[value as Shown] })),
    ];
    const bar = html`<div class="bar">${renderChips({ label: "Which of them", path: PATH, name: "show", chosen: show, kept, chips })}
${renderWhyForm(choice, failing, kept)}</div>`;
    const list =
      fails.length === 0
        ? renderNoRows(...whyNone(scope, failing, totals[0], all.projects))
        : html`${renderBuckets(fails, of, now, show === undefined && !isQuiet ? sums : null)}
${renderPager({ path: PATH, kept, page, perPage: FAILING_PER_PAGE, total, noun: "project" })}`;
    return {
      title: `Failing ${of.moment}`,
      ...(day !== undefined && {
        note: "By the results and the default versions that are known now. Which builds were open then, and whether builds arrived as usual, is not known.",
      }),
      ...(isQuiet && {
        note: "As the last builds left it: nothing was built since, so nothing says what fails now.",
      }),
      count: counted(total, "project"),
      body: html`${renderMine(mine, withQuery(PATH, { ...kept, maintainer: undefined }))}
${all.projects === 0 ? "" : bar}
${list}`,
    };
  },
});

const askForList = ({ choice: { show, why, page }, mine, day }: NowScope): Question => ask(
  "failing_projects",
)`
select *
from ${failingFrom(day)}${where(
  isMine(project.project_id, mine),
  show !== undefined && SHOWN[show].condition,
  why !== undefined && sql`${project.error_class} = ${why}`,
)}
order by ${project.newest_failing_since} desc nulls last, ${pick(project, "project_slug", "project_id")}${onPage`
limit ${inline(FAILING_PER_PAGE)} offset ${(page - 1) * FAILING_PER_PAGE}`}`;

/** Rows of `report.failing_projects`, each with its strip, its other failures and its maintainers. */
async function findFailRows(tx: TransactionSql, list: readonly Row[], scope: NowScope) {
  if (list.length === 0) return [];
  const ids = list.map(({ project_id }) => project_id);
  const [{ strips, others }, maintainers] = await Promise.all([
    askEach(tx, { strips: askForStrips(list, scope), others: askForOthers(list, scope) }),
    findMaintainers(tx, ids),
  ]);
  return list.map((row) => {
    const ofProject = ({ project_id }: Row) => project_id === row.project_id;
    return {
      row,
      /** Of the last builds of its series, the oldest first. */
      outcomes: (strips.find(ofProject)?.outcomes ?? []) as string[],
      /** Rows of `report.failing_now`, or of `seriesOn`. */
      others: others.filter(ofProject),
      /** Usernames; undefined where none is known, or people may not be seen. */
      maintainers: maintainers?.get(row.project_id),
    };
  });
}

type FailRow = Awaited<ReturnType<typeof findFailRows>>[number];

const SERIES_KEY = ["project_id", "version_id", "type", "first_failed_build_id"];

const shown = (series: readonly Row[]): SQL =>
  sql`json_to_recordset(${JSON.stringify(series, SERIES_KEY)}::text::json) as shown (project_id text, version_id text, type text, first_failed_build_id text)`;

function askForStrips(series: readonly Row[], { day, at }: NowScope): Question {
  const isThen =
    day === undefined ? sql`` : sql` and ${build.triggered_at} <= ${at.toISOString()}::timestamptz`;
  const newest = sql`${build.triggered_at} desc nulls last, length(${build.build_id}) desc, ${build.build_id} desc`;
  const own = relation("fact_builds", "build");
  return ask("fact_builds")`
select shown.project_id, last.outcomes
from ${shown(series)}
cross join lateral (
  select array_agg(${build.outcome} order by place desc) as outcomes
  from (
    select ${build.outcome}, row_number() over (order by ${newest}) as place
    from ${own}
    where ${own.project_id} = shown.project_id and ${own.version_id} = shown.version_id and ${own.type} = shown.type${isThen}
    order by ${newest}
    limit ${inline(STRIP_BUILDS)}
  ) as newest
) as last`;
}

/** What else fails in the projects of these series, the newest break first. */
function askForOthers(series: readonly Row[], { day }: NowScope): Question {
  const failing = relation("failing_now", "failing");
  return ask("failing_now")`
select other.*
from ${shown(series)}
cross join lateral (
  select * from ${day === undefined ? failing : sql`(${seriesOn(day.text)}) as failing`}
  where ${failing.project_id} = shown.project_id
    and ${failing.first_failed_build_id} <> shown.first_failed_build_id
  order by failing_since desc nulls last, version_slug, type
  limit ${inline(MOST_FOLDED)}
) as other`;
}

function sumUp(rows: readonly Row[]) {
  const [projects, worked] = [sumIn(rows, "projects"), sumIn(rows, "worked")];
  return {
    projects,
    main: sumIn(rows, "main"),
    worked,
    never: projects - worked,
    lately: sumIn(rows, "lately"),
  };
}

/**
 * The rows under two headings: what broke in the 24 hours, and what before. `sums` counts them where that is known. A phone
 * shows the first of them, and the rest at a tap.
 */
function renderBuckets(
  rows: readonly FailRow[],
  of: NowSpan,
  now: Date,
  sums: ReturnType<typeof sumUp> | null,
): Markup {
  const isLate = ({ row }: FailRow) =>
    row.newest_failing_since !== null && momentMs(row.newest_failing_since) > Date.parse(of.since);
  const [first, rest] = [rows.slice(0, PHONE_ROWS), rows.slice(PHONE_ROWS)];
  const late = rest.filter(isLate).length;
  const listed = (shown: readonly FailRow[], before: readonly FailRow[]) =>
    [true, false].map((late) => {
      const rows = shown.filter((row) => isLate(row) === late);
      if (rows.length === 0) return "";
      const all = sums && (late ? sums.lately : sums.projects - sums.lately);
      const title = html`<h3 class="bucket">${late ? `Broke ${of.within}` : "Broke before"}
      ${" "}<span>${all === null ? "" : `${counted(all, "project")}, `}newest first</span></h3>`;
      return html`${before.some((row) => isLate(row) === late) ? "" : title}
<ol class="fails">${rows.map(
        (row) => html`${renderFail(row, now)}
`,
      )}</ol>`;
    });
  if (rest.length === 0) return html`${listed(first, [])}`;
  const lateWords =
    late === 0 ? "" : `, ${late === rest.length ? "all" : grouped(late)} of them broke in 24\u00a0h`;
  return html`${listed(first, [])}
<a class="show-rest" href="#rest">${grouped(rest.length)} more${lateWords}</a>
<div class="rest-rows" id="rest">${listed(rest, first)}</div>`;
}

/** The kinds of error as a list to choose from. */
function renderWhyForm({ why }: NowChoice, failing: readonly Row[], kept: ReturnType<typeof keptBy>): Markup {
  const kinds = failing.map(({ error_class }) => [String(error_class), kindLabel(error_class)] as const);
  const isKnown = why === undefined || kinds.some(([kind]) => kind === why);
  const shown = isKnown ? kinds : [[why, shorten(why, 40)] as const, ...kinds];
  return html`<form action="${PATH}">${keptFields({ ...kept, why: undefined })}<label for="why-one">Why</label>
    <select id="why-one" name="why"><option value="">any error</option>${shown.map(
      ([kind, label]) =>
        html`<option value="${kind}"${kind === why ? html` selected` : ""}>${label}</option>`,
    )}</select><button>Show</button></form>`;
}

/** Why the list is empty. A filter that leaves nothing says nothing about builds. */
function whyNone(
  { choice: { show, why, page }, mine, day }: NowScope,
  rows: readonly Row[],
  totals: Row | undefined,
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
  const classes = rows.map((row) => String(row.error_class));
  const nearest = why === undefined || classes.includes(why) ? [] : nearestChoices(why, classes, kindLabel);
  return [
    "no-match",
    page > 1 ? "No such page." : "No project matches.",
    `That says nothing about builds: ${counted(failing, "project fails", "projects fail")} outside this choice.`,
    [
      ...meantLinks(nearest, (name) => withQuery(PATH, { show, why: name, day: day?.text }), kindLabel),
      { href: withQuery(PATH, { day: day?.text }), words: `All ${grouped(failing)} that fail` },
    ],
  ];
}

function renderFail({ row, outcomes, others, maintainers }: FailRow, now: Date): Markup {
  const target = targetWords(row.version_slug, row.type);
  const isMain = row.is_main === true;
  return html`<li>
<span class="when">${age(row.failing_since, now)}</span>
${isMain ? mark("bad", "main docs failing") : mark("bad2", "failing in part")}
<div class="name">${projectLink(row.project_slug)}<span class="target">${target}</span>${mainTag(row)}</div>
<div class="told">${renderWhy(row)}
<div class="meta">${"recovered_at" in row ? brokeThen(row, now) : lastFailed(row)}${
    maintainers === undefined
      ? ""
      : html`<span><span class="unseen">maintained </span>by ${foreign(maintainers, 40)}</span>`
  }${renderOthers(row, others, now)}</div></div>
${drawStrip(outcomes, target)}
</li>`;
}

/** Of a past day: which build broke it, and when it was fixed. */
const brokeThen = ({ first_failed_build_id: first, recovered_at: at }: Row, now: Date): Markup =>
  html`<span>since build ${buildLink(first)} · ${at === null ? "not fixed" : html`fixed ${momentTag(at, now)}`}</span>`;

function mainTag(row: Row): Markup | string {
  return row.is_main === true ? html`<span class="tag strong">main docs</span>` : "";
}

function renderOthers(row: Row, others: readonly Row[], now: Date): Markup | string {
  const more = Number(row.failing) - 1;
  if (more <= 0) return "";
  const left = more - others.length;
  const isOlder = row.newest_failing_since !== row.failing_since;
  const newest = isOlder ? `, newest ${agoWords(row.newest_failing_since, now)}` : "";
  return html`
<details class="also"><summary>${counted(more, "more here", "more here")}${newest}
  <span class="unseen">: ${slugWords(row.project_slug)}</span></summary><ul>${others.map((other) => {
    const build = buildLink(other.last_failed_build_id ?? other.first_failed_build_id);
    return html`<li>${age(other.failing_since, now)} ${targetTag(other)} <span>${kindLabel(other.error_class)}</span> ${build}</li>`;
  })}${left > 0 ? html`<li><a href="${projectHref(String(row.project_slug))}">${left} more</a></li>` : ""}</ul></details>`;
}

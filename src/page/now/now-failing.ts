import { counted, grouped } from "../../base/text.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { momentMs } from "../parts/age.ts";
import { askEach } from "../parts/ask-all.ts";
import { renderBlock } from "../parts/block.ts";
import { renderChips } from "../parts/chips.ts";
import { renderEmpty } from "../parts/empty.ts";
import { renderSelectForm } from "../parts/filter-form.ts";
import { html } from "../parts/html.ts";
import { withQuery } from "../parts/links.ts";
import type { Offer } from "../parts/offers.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { renderPager } from "../parts/pager.ts";
import { findMaintainers } from "../parts/questions/maintainers.ts";
import { nearestChoices } from "../parts/questions/nearest-choices.ts";
import type { Row } from "../parts/row.ts";
import { kindLabel, type Markup } from "../parts/words.ts";
import { type FailRow, renderFails } from "./fail-rows.ts";
import {
  askForOthers,
  askForStrips,
  FAILING_PER_PAGE,
  type NowChoice,
  type SeriesKey,
  SHOWN,
  type Shown,
} from "./now-questions.ts";
import type { NowSpan } from "./now-rail.ts";
import type { NowAnswers } from "./verdict-facts.ts";

const PATH = "/";
/** The rows of a page of the list that a phone shows at once. */
const PHONE_ROWS = 10;

/** The strips and the other failures of the listed projects. */
export async function findFailRows(tx: TransactionSql, list: readonly Row[]): Promise<FailRow[]> {
  if (list.length === 0) return [];
  const series = list.map(
    ({ project_id, version_id, type, first_failed_build_id }) =>
      ({ project_id, version_id, type, first_failed_build_id }) as unknown as SeriesKey,
  );
  const { strips, others } = await askEach(tx, {
    strips: askForStrips(series),
    others: askForOthers(series),
  });
  const maintainers = await findMaintainers(
    tx,
    list.map(({ project_id }) => project_id),
  );
  const outcomes = new Map(strips.map((strip) => [strip.project_id, strip.outcomes as string[] | null]));
  return list.map((row) => ({
    row,
    outcomes: outcomes.get(row.project_id) ?? [],
    others: others.filter(({ project_id }) => project_id === row.project_id),
    maintainers: maintainers?.get(row.project_id),
  }));
}

export interface FailingNowFacts {
  readonly choice: NowChoice;
  readonly rows: readonly FailRow[];
  readonly answers: NowAnswers;
  readonly of: NowSpan;
  readonly moment: PageMoment;
  readonly tools: Offer;
  /** Whether nothing was built since the end of `of`. */
  readonly isQuiet: boolean;
}

/** What fails: the filters, the list by when it broke, and why it is empty. */
export function renderFailingNow({
  choice,
  rows,
  answers,
  of,
  moment,
  tools,
  isQuiet,
}: FailingNowFacts): Markup {
  const { show, why, page } = choice;
  const sums = sumUp(answers.failing.filter((row) => why === undefined || row.error_class === why));
  const all = sumUp(answers.failing);
  const total = show === undefined ? sums.projects : sums[show];
  const isNow = moment.at.getTime() === moment.now.getTime();
  const chips = [
    { label: "All", value: undefined, count: sums.projects },
    ...Object.entries(SHOWN).map(([value, { label }]) => ({ label, value, count: sums[value as Shown] })),
  ];
  const bar = html`<div class="bar">${renderChips({ label: "Which of them", path: PATH, name: "show", chosen: show, kept: { why }, chips })}
${renderSelectForm({
  path: PATH,
  name: "why",
  label: "Why",
  all: "any error",
  chosen: why,
  choices: answers.failing.map(({ error_class }) => ({
    value: String(error_class),
    label: kindLabel(error_class),
  })),
  kept: { show },
})}</div>`;
  const list =
    rows.length === 0
      ? renderNoFails(choice, answers, all.projects)
      : html`${renderBuckets(rows, of, moment, show === undefined && !isQuiet ? sums : null)}
${renderPager({ path: PATH, kept: { show, why }, page, perPage: FAILING_PER_PAGE, total, noun: "project" })}`;
  return renderBlock({
    id: "failing",
    title: isQuiet ? `Failing at ${of.endWords}` : isNow ? "Failing now" : "Failing then",
    ...(isQuiet && {
      note: "As the last builds left it: nothing was built since, so nothing says what fails now.",
    }),
    count: counted(total, "project"),
    tools,
    body: html`${all.projects === 0 ? "" : bar}
${list}`,
  });
}

function sumUp(rows: readonly Row[]) {
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
  const [projects, worked] = [sum("projects"), sum("worked")];
  return { projects, main: sum("main"), worked, never: projects - worked, lately: sum("lately") };
}

/**
 * The rows under two headings: what broke in the 24 hours, and what before. `sums` counts them where that is known. A phone
 * shows the first of them, and the rest at a tap.
 */
function renderBuckets(
  rows: readonly FailRow[],
  of: NowSpan,
  { now }: PageMoment,
  sums: ReturnType<typeof sumUp> | null,
): Markup {
  const isLate = ({ row }: FailRow) =>
    row.failing_since !== null && momentMs(row.failing_since) > Date.parse(of.since);
  const [first, rest] = [rows.slice(0, PHONE_ROWS), rows.slice(PHONE_ROWS)];
  const late = rest.filter(isLate).length;
  const listed = (shown: readonly FailRow[], before: readonly FailRow[]) =>
    [
      {
        title: `Broke in the ${of.words}`,
        all: sums?.lately,
        rows: shown.filter(isLate),
        hasBegun: before.some(isLate),
      },
      {
        title: "Broke before",
        all: sums && sums.projects - sums.lately,
        rows: shown.filter((row) => !isLate(row)),
        hasBegun: before.some((row) => !isLate(row)),
      },
    ]
      .filter((bucket) => bucket.rows.length > 0)
      .map(
        (bucket) => html`${
          bucket.hasBegun
            ? ""
            : html`<h3 class="bucket">${bucket.title}
      ${" "}<span>${bucket.all == null ? "" : `${counted(bucket.all, "project")}, `}newest first</span></h3>`
        }
${renderFails(bucket.rows, now)}`,
      );
  if (rest.length === 0) return html`${listed(first, [])}`;
  const lateWords =
    late === 0 ? "" : `, ${late === rest.length ? "all" : grouped(late)} of them broke in 24\u00a0h`;
  return html`${listed(first, [])}
<a class="show-rest" href="#rest">${grouped(rest.length)} more${lateWords}</a>
<div class="rest-rows" id="rest">${listed(rest, first)}</div>`;
}

/** Why the list is empty. A filter that leaves nothing says nothing about builds. */
function renderNoFails({ show, why, page }: NowChoice, answers: NowAnswers, failing: number): Markup {
  if (failing === 0) {
    const [totals] = answers.totals;
    const finished = Number(totals?.finished ?? 0);
    const projects = counted(Number(totals?.projects ?? 0), "project");
    const builds = counted(finished, "finished build");
    return finished === 0
      ? renderEmpty({ kind: "unknown", strong: "Not known.", say: "No build has finished yet." })
      : renderEmpty({
          kind: "none",
          strong: "None found.",
          say: `The last finished build of every version and format succeeded, of ${projects} and ${builds}.`,
        });
  }
  const classes = answers.failing.map((row) => String(row.error_class));
  const nearest = why === undefined || classes.includes(why) ? [] : nearestChoices(why, classes, kindLabel);
  return renderEmpty({
    kind: "no-match",
    strong: page > 1 ? "No such page." : "No project matches.",
    say: `That says nothing about builds: ${counted(failing, "project fails", "projects fail")} outside this choice.`,
    ways: [
      ...nearest.map((name) => ({
        href: withQuery(PATH, { show, why: name }),
        words: html`Did you mean ${kindLabel(name)}?`,
      })),
      { href: withQuery(PATH, {}), words: `All ${grouped(failing)} that fail` },
    ],
  });
}

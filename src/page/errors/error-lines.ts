import type { Question } from "../../report/question.ts";
import { age, momentTag } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { dayAxis } from "../parts/charts/day-axis.ts";
import { countsBySpan, drawMiniBars, mostADay } from "../parts/charts/mini-bars.ts";
import { type Span, spanNoun, spansOf } from "../parts/charts/spans.ts";
import { renderChips } from "../parts/chips.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { type Query, withQuery } from "../parts/links.ts";
import { renderPager } from "../parts/pager.ts";
import { dayNumber, daysName, lengthWords, type Period } from "../parts/period.ts";
import { buildLink, projectLink, targetTag } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { counted, foreign, grouped, kindLabel, type Markup } from "../parts/words.ts";
import {
  type ErrorsChoice,
  isAllTime,
  LINE_SORTS,
  LINES_PER_PAGE,
  MOST_PROJECTS,
} from "./errors-questions.ts";

const PATH = "/errors";
const HEIGHT = 28;
const DAY_MS = 86_400_000;

export interface ErrorLinesFacts {
  readonly choice: ErrorsChoice;
  readonly period: Period;
  /** The chosen days, as they stand in the address. */
  readonly since: string | undefined;
  /** The lines of this page; each row has the number of all of them. */
  readonly lines: readonly Row[];
  /** How often each of these failed by day, and the projects that each hit. */
  readonly days: readonly Row[];
  readonly projects: readonly Row[];
  /** How many lines each kind has. */
  readonly perKind: readonly Row[];
  /** Failed builds of the period, of all kinds. */
  readonly failed: number;
  readonly question: Question;
  readonly filters: Query;
  readonly now: Date;
}

/** Error lines that are the same but for names and numbers, each with its newest build and its projects. */
export function renderErrorLines(facts: ErrorLinesFacts): Markup {
  const { choice, period, since, lines, perKind, question, filters } = facts;
  const { kind, sort, page } = choice;
  const total = Number(lines[0]?.lines ?? 0);
  const kept = { kind, since };
  const sorting = sort === "projects" ? undefined : sort;
  const isAll = isAllTime(period);
  const all = perKind.reduce((sum, row) => sum + Number(row.lines), 0);
  const kinds = [
    { label: "All", value: undefined, ...(!isAll && { count: all }) },
    ...perKind
      .toSorted((a, b) => Number(b.lines) - Number(a.lines))
      .map(({ error_class, lines: count }) => ({
        label: kindLabel(error_class),
        value: String(error_class),
        ...(!isAll && { count: Number(count) }),
      })),
  ];
  const chips = renderChips({
    label: "Kind of error",
    path: PATH,
    name: "kind",
    chosen: kind,
    kept: { since, sort: sorting },
    chips: kinds,
  });
  const ofAll = " The counts are of all time: they ignore the dates, because the period is long.";
  return renderBlock({
    id: "lines",
    title: "Error lines",
    ...(total > 0 && { count: grouped(total) }),
    note: `Lines that differ only in names, paths, numbers and addresses count as one.${isAll ? ofAll : ""}`,
    tools: { question, filters },
    body: html`<div class="bar">${chips}</div>
${
  lines.length === 0
    ? renderNoLines(facts)
    : html`${renderSorts(choice, kept, isAll)}
<ul class="prints">${renderLines(facts)}</ul>
${renderPager({ path: PATH, kept: { ...kept, sort: sorting }, page, perPage: LINES_PER_PAGE, total, noun: "line" })}`
}`,
  });
}

/** The heads of the list, which sort it; on a phone they are chips. */
function renderSorts({ sort }: ErrorsChoice, kept: Query, isAll: boolean): Markup {
  const href = (by: string) =>
    `${withQuery(PATH, { ...kept, sort: by === "projects" ? undefined : by })}#lines`;
  const shown = Object.entries(LINE_SORTS).filter(([by]) => !(isAll && by === "rise"));
  return html`<nav class="chips sort-lines" aria-label="Sort by"><span class="quiet">Most first:</span>${shown.map(
    ([by, { head }]) =>
      html`<a href="${href(by)}"${by === sort ? html` aria-current="true"` : ""}>${head}</a>`,
  )}</nav>
<div class="multi-head prints-head" aria-hidden="true"><span>Error line</span>
  <span>Builds a day, each its own scale</span><span>Builds</span><span>Projects</span></div>`;
}

function renderLines({ period, lines, days, projects, now }: ErrorLinesFacts): Markup {
  const spans = spansOf(period);
  const axis = dayAxis(spans);
  return html`${lines.map((line) => {
    const mine = days.filter(({ error_fingerprint }) => error_fingerprint === line.error_fingerprint);
    const counts = countsBySpan(
      spans,
      new Map(mine.map((row) => [dayNumber(row.day), Number(row.failures)])),
    );
    const hit = projects.filter(({ error_fingerprint }) => error_fingerprint === line.error_fingerprint);
    const told = tell(line, counts, spans, period, now);
    const before =
      line.failures_before === null
        ? ""
        : html`<small>${grouped(Number(line.failures_before))} before</small>`;
    return html`<li><div class="print"><code>${exampleOf(line)}</code>
      ${isNew(line, period) ? html` <span class="tag strong">new</span>` : ""}
      <small>${kindLabel(line.error_class)} · first ${momentTag(line.first_triggered_at, now)} · last
      ${buildLink(line.last_build_id)}, ${age(line.last_triggered_at, now)} ago</small></div>
      ${drawMiniBars({ spans, axis, counts, most: mostADay(spans, counts), height: HEIGHT, told, now })}
      <span class="n">${grouped(Number(line.failures))}${before}</span>
      <span class="n">${grouped(Number(line.projects))}</span>${renderProjects(line, hit, now)}</li>
`;
  })}`;
}

function exampleOf({ example }: Row): Markup {
  return example === null || example === "" ? html`(no error line)` : foreign(String(example), 300);
}

/** Whether the line was first seen in the period, where the mirror knows enough of the time before. */
function isNew({ first_triggered_at }: Row, { first, before }: Period): boolean {
  if (before === null || first_triggered_at === null) return false;
  return Date.parse(String(first_triggered_at).replace(" ", "T").replace(/\+00$/, "Z")) >= first * DAY_MS;
}

function tell(
  line: Row,
  counts: readonly number[],
  spans: readonly Span[],
  period: Period,
  now: Date,
): string {
  const of = (isBefore: boolean) =>
    counts.reduce((sum, count, place) => (spans[place]?.isBefore === isBefore ? sum + count : sum), 0);
  const noun = spanNoun(spans);
  const before = period.before === null ? "" : `, ${grouped(of(true))} before`;
  const builds = counted(of(false), "build");
  return `${kindLabel(line.error_class)} by ${noun}: ${builds} on ${daysName(period, now)}${before}`;
}

function renderProjects(line: Row, hit: readonly Row[], now: Date): Markup | string {
  if (hit.length === 0) return "";
  const all = Number(line.projects);
  const left = all - hit.length;
  const builds = ({ failures }: Row) => (Number(failures) > 1 ? `${grouped(Number(failures))} builds, ` : "");
  return html`
<details class="also"><summary>${counted(all, "project")}
  <span class="unseen"> with ${kindLabel(line.error_class)}: ${exampleOf(line)}</span></summary><ul>${hit.map(
    (
      row,
    ) => html`<li>${age(row.triggered_at, now)} ${projectLink(row.project_slug)} ${targetTag(row)} <span>${builds(row)}last
        ${buildLink(row.build_id)}</span></li>`,
  )}${left > 0 ? html`<li>${grouped(left)} more; these ${MOST_PROJECTS} are the latest.</li>` : ""}</ul></details>`;
}

/** Why the list is empty. A choice that leaves nothing says nothing about builds. */
function renderNoLines({ choice, period, since, failed }: ErrorLinesFacts): Markup {
  const { kind, page } = choice;
  const of = lengthWords(period.days);
  const ways = [
    { href: withQuery(PATH, { since }), words: `All ${grouped(failed)} failed builds of these days` },
  ];
  if (page > 1)
    return renderEmpty({
      kind: "no-match",
      strong: "No such page.",
      say: "The list is shorter.",
      ways: [{ href: withQuery(PATH, { kind, since }), words: "Its first page" }],
    });
  return kind === undefined
    ? renderEmpty({
        kind: "unknown",
        strong: "No error line.",
        say: `No build of ${of} is known to have failed.`,
      })
    : renderEmpty({
        kind: "no-match",
        strong: "No line of this kind.",
        say: `No build of ${of} failed with “${kindLabel(kind)}”.`,
        ways,
      });
}

import { counted, grouped } from "../../base/text.ts";
import { age, momentTag } from "../parts/age.ts";
import { dayAxis } from "../parts/charts/day-axis.ts";
import { countsBySpan, drawMiniBars, mostADay } from "../parts/charts/mini-bars.ts";
import { spanNoun, spansOf } from "../parts/charts/spans.ts";
import { html } from "../parts/html.ts";
import { icon } from "../parts/icon.ts";
import { hidesCause, renderMask } from "../parts/mask.ts";
import { dayNumber, daysName, type Period, type PeriodChoice } from "../parts/period.ts";
import { buildLink, projectLink, targetTag } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { kindLabel, type Markup } from "../parts/words.ts";
import type { ErrorsHref } from "./errors-query.ts";
import { type ErrorsChoice, projectsOf } from "./errors-questions.ts";

const [KIND_HEIGHT, LINE_HEIGHT] = [28, 22];
const DAY_MS = 86_400_000;
/** Of hundreds of lines some rise by chance beyond an interval of 95 %; so a line has to leave one of 99 %. */
const DEVIATIONS = 2.6;
/** One project may fail with a new line each day. */
const FEWEST_PROJECTS = 3;

export interface KindFacts {
  readonly choice: ErrorsChoice & PeriodChoice;
  readonly period: Period;
  /** The lines that are shown, each with what is counted of its kind; those of a kind follow each other. */
  readonly lines: readonly Row[];
  /** How often each kind, and each line, failed by day. */
  readonly printDays: readonly Row[];
  readonly lineDays: readonly Row[];
  /** The projects that each line hit. */
  readonly projects: readonly Row[];
  /** How many projects the lines of each kind hit that are not shown. */
  readonly restProjects: readonly Row[];
  readonly href: ErrorsHref;
  readonly now: Date;
}

/** Lines by their kinds, in their order. */
export function groupByPrint(lines: readonly Row[]): (readonly [Row, ...Row[]])[] {
  const groups = new Map<unknown, [Row, ...Row[]]>();
  for (const line of lines) {
    const group = groups.get(line.error_fingerprint);
    if (group === undefined) groups.set(line.error_fingerprint, [line]);
    else group.push(line);
  }
  return [...groups.values()];
}

/** A kind by what its lines share, and its lines with most builds; the rest in a row of its own. */
export function renderKind(ofKind: readonly [Row, ...Row[]], facts: KindFacts): Markup {
  const { printDays, choice, period, now } = facts;
  const [first] = ofKind;
  const isSame = Number(first.kind_lines) === 1;
  const days = printDays.filter(({ error_fingerprint }) => error_fingerprint === first.error_fingerprint);
  // Its only line, whose name is that of the kind, needs no row of its own.
  const isShown = !isSame || hidesCause(first.mask);
  // Lines of one build each say no more than that there are many.
  const isSpread =
    !isSame &&
    choice.line === undefined &&
    choice.print === undefined &&
    ofKind.every(({ failures, most_of_rest }) => Number(failures) <= 1 && Number(most_of_rest) <= 1);
  const listed = isSpread ? [] : ofKind;
  const rises = !isShown && isRising(first, period);
  return html`<li><div class="kind${rises ? " rises" : ""}"><div><p class="mask">${renderMask(isShown ? first.mask : first.error_line)}</p>
    <small><span class="tag${isSame ? " strong" : ""}">${isSame ? "same error" : "same kind"}</span>
    ${kindLabel(first.error_class)} · ${differenceWords(first)}${
      isShown ? "" : html` · ${renderBadge(first, period)}${renderSpan(first, now)}`
    }</small></div>
    ${drawDays(first, days, KIND_HEIGHT, rises ? "m-bad" : "m-ink", facts)}
    ${renderCounts(first.kind_failures, first.kind_failures_before, first.kind_projects)}</div>
${
  isShown
    ? html`<ol class="klines" aria-label="Lines of this kind">${listed.map((line) => renderLine(line, facts))}${
        choice.line === undefined ? renderRest(first, listed, facts) : ""
      }</ol>`
    : renderProjects(first, facts)
}</li>
`;
}

function differenceWords({ kind_failures: failures, kind_lines: lines, mask }: Row): string {
  if (Number(lines) > 1)
    return `${grouped(Number(lines))} different lines${hidesCause(mask) ? ", so maybe several causes" : ""}`;
  return `one line in ${Number(failures) === 1 ? "one build" : `all ${grouped(Number(failures))}`}`;
}

function riseWords({ failures, failures_before }: Row): string {
  return `rises: ${grouped(Number(failures))} against ${grouped(Number(failures_before))}`;
}

function renderBadge(line: Row, period: Period): Markup | string {
  const isFirst = isNew(line, period);
  if (isRising(line, period))
    return html`<span class="rise">${icon("up")}${isFirst ? "new" : riseWords(line)}</span>`;
  return isFirst ? html`<span class="tag">new</span> ` : "";
}

function renderLine(line: Row, facts: KindFacts): Markup {
  const { period, now, lineDays } = facts;
  const days = lineDays.filter(({ error_line_id }) => error_line_id === line.error_line_id);
  const rises = isRising(line, period);
  return html`<li class="kline${rises ? " rises" : ""}"><div><code class="mask">${renderMask(line.error_line)}</code>
    <small>${renderBadge(line, period)}${renderSpan(line, now)}</small></div>
    ${drawDays(line, days, LINE_HEIGHT, rises ? "m-bad" : "m-ink", facts)}
    ${renderCounts(line.failures, line.failures_before, line.projects)}${renderProjects(line, facts)}</li>
`;
}

/** What the lines that are shown leave of a kind, of which `first` is one. */
function renderRest(
  first: Row,
  shown: readonly Row[],
  { choice, restProjects, href }: KindFacts,
): Markup | string {
  const left = Number(first.kind_lines) - shown.length;
  if (left <= 0) return "";
  const builds = Number(first.kind_failures) - shown.reduce((sum, { failures }) => sum + Number(failures), 0);
  const hit =
    shown.length === 0
      ? first.kind_projects
      : restProjects.find(({ error_fingerprint }) => error_fingerprint === first.error_fingerprint)?.projects;
  const most = counted(Math.max(1, Number(first.most_of_rest)), "build");
  const words = `${counted(left, shown.length === 0 ? "line" : "more line")}, ${left === 1 ? "with" : "none with more than"} ${most}`;
  const print = String(first.error_fingerprint);
  return html`<li class="kline rest"><div>${
    choice.print === undefined ? html`<a href="${href({ print })}">${words}</a>` : `${words}: in the files`
  }</div><span></span>
    <span class="n">${grouped(builds)}<small class="u">builds</small></span>
    <span class="n">${hit === undefined ? "" : html`${grouped(Number(hit))}<small class="u">projects</small>`}</span></li>`;
}

const renderSpan = (line: Row, now: Date): Markup =>
  html`first ${momentTag(line.first_triggered_at, now)} · last ${buildLink(line.last_build_id)}, ${age(line.last_triggered_at, now)} ago`;

/** `before` is null where it is not known. */
function renderCounts(failures: unknown, before: unknown, projects: unknown): Markup {
  const builds =
    before === null
      ? html`<small class="u">builds</small>`
      : html`<small><span class="u">builds, </span>${grouped(Number(before))} before</small>`;
  return html`<span class="n">${grouped(Number(failures))}${builds}</span>
    <span class="n">${grouped(Number(projects))}<small class="u">projects</small></span>`;
}

function drawDays(
  row: Row,
  days: readonly Row[],
  height: number,
  look: "m-ink" | "m-bad",
  { period, now }: KindFacts,
): Markup {
  const spans = spansOf(period);
  const counts = countsBySpan(
    spans,
    new Map(days.map(({ day, failures }) => [dayNumber(day), Number(failures)])),
  );
  const of = (isBefore: boolean) =>
    counts.reduce((sum, count, place) => (spans[place]?.isBefore === isBefore ? sum + count : sum), 0);
  const before = period.before === null ? "" : `, ${grouped(of(true))} before`;
  const told = `${kindLabel(row.error_class)} by ${spanNoun(spans)}: ${counted(of(false), "build")} on ${daysName(period, now)}${before}`;
  return drawMiniBars({
    spans,
    axis: dayAxis(spans),
    counts,
    most: mostADay(spans, counts),
    height,
    told,
    look,
    now,
  });
}

/** Whether the line was first seen in the period, where the mirror knows enough of the time before. */
function isNew({ first_triggered_at }: Row, { first, before }: Period): boolean {
  if (before === null || first_triggered_at === null) return false;
  return Date.parse(String(first_triggered_at).replace(" ", "T").replace(/\+00$/, "Z")) >= first * DAY_MS;
}

/** Whether a line came more often than in the period before, by more than chance, and in some projects. */
export function isRising(line: Row, { before }: Pick<Period, "before">): boolean {
  if (before === null || line.failures_before === null) return false;
  const [now, old] = [Number(line.failures), Number(line.failures_before)];
  return Number(line.projects) >= FEWEST_PROJECTS && now - old > DEVIATIONS * Math.sqrt(now + old);
}

function renderProjects(line: Row, { projects, choice, href, now }: KindFacts): Markup | string {
  const hit = projects.filter(({ error_line_id }) => error_line_id === line.error_line_id);
  if (hit.length === 0) return "";
  const left = Number(line.projects) - hit.length;
  const more = href({ line: String(line.error_line_id) });
  const builds = ({ failures }: Row) => (Number(failures) > 1 ? `${grouped(Number(failures))} builds, ` : "");
  return html`
<details class="also"${choice.line === undefined ? "" : html` open`}><summary>${counted(Number(line.projects), "project")}
  <span class="unseen"> with ${kindLabel(line.error_class)}: ${renderMask(line.error_line, 80)}</span></summary><ul>${hit.map(
    (
      row,
    ) => html`<li>${age(row.triggered_at, now)} ${projectLink(row.project_slug)} ${targetTag(row)} <span>${builds(row)}last
        ${buildLink(row.build_id)}</span></li>`,
  )}${left > 0 ? html`<li><span>the latest ${projectsOf(choice)}</span> <a href="${more}">and ${grouped(left)} more</a></li>` : ""}</ul></details>`;
}

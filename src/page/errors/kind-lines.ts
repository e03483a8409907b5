import { age, momentTag } from "../parts/age.ts";
import { dayAxis } from "../parts/charts/day-axis.ts";
import { countsBySpan, drawMiniBars, mostADay } from "../parts/charts/mini-bars.ts";
import { spanNoun, spansOf } from "../parts/charts/spans.ts";
import { html } from "../parts/html.ts";
import { icon } from "../parts/icon.ts";
import { withQuery } from "../parts/links.ts";
import { hidesCause, renderMask } from "../parts/mask.ts";
import { dayNumber, daysName, type Period } from "../parts/period.ts";
import { buildLink, projectLink, targetTag } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { counted, grouped, kindLabel, type Markup } from "../parts/words.ts";
import { type ErrorsChoice, projectsOf } from "./errors-questions.ts";

const [KIND_HEIGHT, LINE_HEIGHT] = [28, 22];
const DAY_MS = 86_400_000;
/** Of hundreds of lines some rise by chance beyond an interval of 95 %; so a line has to leave one of 99 %. */
const DEVIATIONS = 2.6;
/** One project may fail with a new line each day. */
const FEWEST_PROJECTS = 3;

export interface KindFacts {
  readonly choice: ErrorsChoice;
  readonly period: Period;
  /** The lines of the kinds that are shown, in their order. */
  readonly lines: readonly Row[];
  /** How often each kind, and each line, failed by day. */
  readonly printDays: readonly Row[];
  readonly lineDays: readonly Row[];
  /** The projects that each line hit. */
  readonly projects: readonly Row[];
  /** How many projects the lines of each kind hit that are not shown. */
  readonly restProjects: readonly Row[];
  readonly now: Date;
}

/** A kind by what its lines share, and its lines with most builds; the rest in a row of its own. */
export function renderKind(row: Row, facts: KindFacts): Markup {
  const { printDays, choice } = facts;
  const mine = facts.lines
    .filter(({ error_fingerprint }) => error_fingerprint === row.error_fingerprint)
    .map((line) => ({ ...line, error_class: row.error_class }) as Row);
  const [first] = mine;
  const different = Number(row.lines);
  const isSame = different === 1 && first !== undefined;
  const days = printDays.filter(({ error_fingerprint }) => error_fingerprint === row.error_fingerprint);
  // Its only line, whose name is that of the kind, needs no row of its own.
  const isShown = !isSame || hidesCause(row.mask);
  const rises = !isShown && isRising(first, facts.period);
  return html`<li><div class="kind${rises ? " rises" : ""}"><div><p class="mask">${renderMask(isShown ? row.mask : first?.error_line)}</p>
    <small><span class="tag${isSame ? " strong" : ""}">${isSame ? "same error" : "same kind"}</span>
    ${kindLabel(row.error_class)} · ${differenceWords(row)}
    ${isShown || first === undefined ? "" : html`· ${renderBadge(first, facts.period)}${renderSpan(first, facts.now)}`}</small></div>
    ${drawDays(row, days, KIND_HEIGHT, rises ? "m-bad" : "m-ink", facts)}${renderCounts(row)}</div>
${
  isShown
    ? html`<ol class="klines" aria-label="Lines of this kind">${mine.map((line) => renderLine(line, facts))}${
        choice.line === undefined ? renderRest(row, mine, facts) : ""
      }</ol>`
    : renderProjects(first, facts)
}</li>
`;
}

function differenceWords({ failures, lines, mask }: Row): string {
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
  return isFirst ? html`<span class="tag strong">new</span> ` : "";
}

function renderLine(line: Row, facts: KindFacts): Markup {
  const { period, now, lineDays } = facts;
  const days = lineDays.filter(({ error_line_id }) => error_line_id === line.error_line_id);
  const rises = isRising(line, period);
  return html`<li class="kline${rises ? " rises" : ""}"><div><code class="mask">${renderMask(line.error_line)}</code>
    <small>${renderBadge(line, period)}${renderSpan(line, now)}</small></div>
    ${drawDays(line, days, LINE_HEIGHT, rises ? "m-bad" : "m-ink", facts)}${renderCounts(line)}${renderProjects(line, facts)}</li>
`;
}

/** What the lines that are shown leave of a kind. */
function renderRest(row: Row, shown: readonly Row[], { restProjects }: KindFacts): Markup | string {
  const left = Number(row.lines) - shown.length;
  if (left <= 0) return "";
  const builds = Number(row.failures) - shown.reduce((sum, { failures }) => sum + Number(failures), 0);
  const most = Number(shown[0]?.most_of_rest ?? 0);
  const hit = restProjects.find(({ error_fingerprint }) => error_fingerprint === row.error_fingerprint);
  const href = `${withQuery("/errors", { print: String(row.error_fingerprint) })}#lines`;
  return html`<li class="kline rest"><div><a href="${href}">${counted(left, "more line")},
    ${left === 1 ? "with" : "none with more than"} ${counted(most, "build")}</a></div><span></span>
    <span class="n">${grouped(builds)}<small class="u">builds</small></span>
    <span class="n">${hit === undefined ? "" : html`${grouped(Number(hit.projects))}<small class="u">projects</small>`}</span></li>`;
}

const renderSpan = (line: Row, now: Date): Markup =>
  html`first ${momentTag(line.first_triggered_at, now)} · last ${buildLink(line.last_build_id)}, ${age(line.last_triggered_at, now)} ago`;

function renderCounts({ failures, failures_before, projects }: Row): Markup {
  const before =
    failures_before === null
      ? html`<small class="u">builds</small>`
      : html`<small><span class="u">builds, </span>${grouped(Number(failures_before))} before</small>`;
  return html`<span class="n">${grouped(Number(failures))}${before}</span>
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
export function isRising(line: Row | undefined, { before }: Pick<Period, "before">): boolean {
  if (line === undefined || before === null || line.failures_before === null) return false;
  const [now, old] = [Number(line.failures), Number(line.failures_before)];
  return Number(line.projects) >= FEWEST_PROJECTS && now - old > DEVIATIONS * Math.sqrt(now + old);
}

function renderProjects(line: Row | undefined, { projects, choice, now }: KindFacts): Markup | string {
  const hit = projects.filter(({ error_line_id }) => error_line_id === line?.error_line_id);
  if (line === undefined || hit.length === 0) return "";
  const left = Number(line.projects) - hit.length;
  const more = `${withQuery("/errors", { line: String(line.error_line_id) })}#lines`;
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

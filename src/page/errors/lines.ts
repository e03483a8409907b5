import { allOf, counted, grouped } from "../../base/text.ts";
import { askEach, countIn, type Row, sumIn } from "../parts/answers.ts";
import { block, type Empty, renderNoRows } from "../parts/block.ts";
import { isMore } from "../parts/changes.ts";
import { spanNoun, spansOf } from "../parts/charts.ts";
import { html, type Markup } from "../parts/html.ts";
import { hidesCause, kindLabel, renderMask } from "../parts/kinds.ts";
import { buildLink, projectLink, renderPager, targetTag } from "../parts/links.ts";
import { age, DAY_MS, icon, momentMs, momentTag } from "../parts/marks.ts";
import { countsBySpan, drawMiniBars, mostADay } from "../parts/mini-bars.ts";
import { byDay, noFailures } from "../parts/outcomes.ts";
import { daysName, lengthWords, type Period } from "../parts/period.ts";
import {
  askForLineDays,
  askForLineProjects,
  askForLines,
  askForPrintDays,
  askForRestProjects,
  ERRORS_PATH,
  type ErrorsChoice,
  type ErrorsHref,
  type ErrorsSaid,
  type ErrorsScope,
  isAllTime,
  keptQuery,
  PRINT_SORTS,
  PRINTS_PER_PAGE,
  projectsOf,
} from "./lines-questions.ts";

/** Kinds of error by what their lines share, and below each its lines with most builds. */
export const lines = block({
  id: "lines",
  narrowedBy: {
    since: null,
    until: null,
    kind: null,
    line: null,
    print: null,
    sort: Object.keys(PRINT_SORTS),
  },
  asks: ({ period, choice }: ErrorsScope) => ({ rows: askForLines(period, choice) }),
  async draw({ rows }, scope, { failed, finished }: ErrorsSaid, tx) {
    const { choice, period, now } = scope;
    const prints = [...new Set(rows.map(({ error_fingerprint }) => String(error_fingerprint)))];
    const ids = rows.map(({ error_line_id }) => String(error_line_id));
    const isLong = isAllTime(period);
    // The days of the kinds and lines that are shown, and the projects that they hit.
    const found = await askEach(tx, {
      printDays: askForPrintDays(period, prints),
      lineDays: askForLineDays(period, prints, ids),
      projects: isLong ? null : askForLineProjects(period, choice, ids),
      restProjects: isLong ? null : askForRestProjects(period, choice, prints, ids),
    });
    const facts: LinesFacts = { ...scope, ...found, failed, finished };
    const total = countIn(rows[0], "kinds");
    const isAll = isAllTime(period);
    const isWhole = choice.kind === undefined && isUnfocused(choice);
    return {
      title: "Errors by kind",
      ...(total > 0 && {
        count: `${counted(total, "kind")}${isWhole && !isAll ? `, ${counted(failed, "build")}` : ""}`,
      }),
      ...(isAll && {
        note: "The counts are of all time: they ignore the dates, because the period is long.",
      }),
      body: html`${isWhole ? "" : renderChoice(facts)}
${
  rows.length === 0
    ? renderNoRows(...whyNone(facts))
    : html`${KEY}
<div class="kind-head" aria-hidden="true"><span>Kind, and below it its lines with most builds</span>
  <span>A day, ${daysName({ first: period.start, last: period.last }, now)}</span><span>Builds</span><span>Projects</span></div>
<ol class="kinds">${groupByPrint(rows).map((ofKind) => renderKind(ofKind, facts))}</ol>
${renderLegend(period)}
${renderPager({ path: ERRORS_PATH, kept: keptQuery(choice), page: choice.page, perPage: PRINTS_PER_PAGE, total, noun: "kind" })}`
}`,
    };
  },
});

/** What the lines are drawn from. */
type LinesFacts = ErrorsScope &
  Readonly<Record<"printDays" | "lineDays" | "projects" | "restProjects", readonly Row[]>> &
  ErrorsSaid;

function renderChoice({ choice, href }: LinesFacts): Markup {
  const { kind, line, print } = choice;
  const only = line !== undefined ? "one line" : print !== undefined ? "one kind" : `“${kindLabel(kind)}”`;
  return html`<p class="note">Only ${only}. <a href="${href(WHOLE)}">All errors</a></p>`;
}

/** Whether neither one line nor one kind of line is chosen. */
const isUnfocused = ({ line, print }: ErrorsChoice): boolean => line === undefined && print === undefined;

const WHOLE = { kind: undefined, line: undefined, print: undefined };

const KEY = html`<dl class="samekey"><div><dt><svg width="14" height="14" aria-hidden="true">
  <path class="cut" d="M2 0v14" stroke-width="3"/></svg>Same kind</dt>
  <dd>The lines agree except in what a frame like <span class="mask"><i>‹name›</i></span> stands for. A kind may hold many causes:
  its count alone is no alarm.</dd></div>
<div><dt><svg width="14" height="14" aria-hidden="true"><rect class="m-ink" width="4" height="14"/></svg>Same error</dt>
  <dd>The line agrees letter for letter, or differs only in its place, like <span class="mask"><i class="at">‹path›</i></span>.
  Many projects with it point to one cause.</dd></div></dl>`;

/** The orders of the list. */
export function renderSorts({ sort }: ErrorsChoice, period: Period, href: ErrorsHref): Markup {
  const isAll = isAllTime(period);
  const shown = Object.entries(PRINT_SORTS).filter(([by]) => !(isAll && by === "rise"));
  const chosen = isAll && sort === "rise" ? "projects" : sort;
  return html`<nav class="chips" aria-label="Which first">${shown.map(
    ([by, { head }]) =>
      html`<a href="${href({ sort: by })}"${by === chosen ? html` aria-current="true"` : ""}>${head}</a>`,
  )}</nav>`;
}

function renderLegend({ before, days }: Period): Markup {
  const item = (look: string, words: string) =>
    html`<span><svg width="10" height="10" aria-hidden="true"><rect class="${look}" width="10" height="10"/></svg> ${words}</span>`;
  const these = days === 1 ? "this day" : `these ${lengthWords(days)}`;
  return html`<p class="kinds-key">${before === null ? "" : item("m-quiet", `the ${lengthWords(days)} before`)}
  ${item("m-ink", before === null ? these : `${these}, within chance`)}
  ${before === null ? "" : item("m-bad", `${these}, more than chance`)}
  <span>Each strip has its own scale.</span></p>`;
}

/** Why the list is empty. A choice that leaves nothing says nothing about builds. */
function whyNone({ choice, period, failed, finished, href, now }: LinesFacts): Empty {
  const { kind, page } = choice;
  const of = daysName(period, now);
  if (page > 1)
    return [
      "no-match",
      "No such page.",
      "The list is shorter.",
      [{ href: href({}), words: "Its first page" }],
    ];
  const ways = [{ href: href(WHOLE), words: `${allOf(failed, "failed build")} of these days` }];
  if (!isUnfocused(choice)) return ["no-match", "No such line.", `No build of ${of} failed with it.`, ways];
  if (kind === undefined)
    return failed === 0
      ? noFailures(finished)
      : ["unknown", "No error line.", `No failed build of ${of} has one.`];
  return ["no-match", "No line of this kind.", `No build of ${of} failed with “${kindLabel(kind)}”.`, ways];
}

const [KIND_HEIGHT, LINE_HEIGHT] = [28, 22];
/** One project may fail with a new line each day. */
const FEWEST_PROJECTS = 3;

/** Lines by their kinds, in their order. */
function groupByPrint(lines: readonly Row[]): (readonly [Row, ...Row[]])[] {
  const groups = new Map<unknown, [Row, ...Row[]]>();
  for (const line of lines) {
    const group = groups.get(line.error_fingerprint);
    if (group) group.push(line);
    else groups.set(line.error_fingerprint, [line]);
  }
  return [...groups.values()];
}

/** A kind by what its lines share, and its lines with most builds; the rest in a row of its own. */
function renderKind(ofKind: readonly [Row, ...Row[]], facts: LinesFacts): Markup {
  const { printDays, choice, period, now } = facts;
  const [first] = ofKind;
  const isSame = Number(first.kind_lines) === 1;
  const days = printDays.filter(({ error_fingerprint }) => error_fingerprint === first.error_fingerprint);
  // Its only line, whose name is that of the kind, needs no row of its own.
  const isShown = !isSame || hidesCause(first.mask);
  // Lines of one build each say no more than that there are many.
  const isSpread =
    !isSame &&
    isUnfocused(choice) &&
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

function renderBadge(line: Row, period: Period): Markup | string {
  const isFirst = isNew(line, period);
  const counts = `${grouped(Number(line.failures))} against ${grouped(Number(line.failures_before))}`;
  if (isRising(line, period))
    return html`<span class="rise">${icon("up")}${isFirst ? "new" : `rises: ${counts}`}</span>`;
  return isFirst ? html`<span class="tag">new</span> ` : "";
}

function renderLine(line: Row, facts: LinesFacts): Markup {
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
function renderRest(first: Row, shown: readonly Row[], { choice, restProjects, href }: LinesFacts) {
  const left = Number(first.kind_lines) - shown.length;
  if (left <= 0) return "";
  const builds = Number(first.kind_failures) - sumIn(shown, "failures");
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
    <span class="n">${grouped(builds)}${unit(builds, "build")}</span>
    <span class="n">${hit === undefined ? "" : html`${grouped(Number(hit))}${unit(hit, "project")}`}</span></li>`;
}

const renderSpan = (line: Row, now: Date): Markup =>
  html`first ${momentTag(line.first_triggered_at, now)} · last ${buildLink(line.last_build_id)}, ${age(line.last_triggered_at, now)} ago`;

/** The word below a number, which the head says on a wide page. */
const unit = (count: unknown, noun: string): Markup =>
  html`<small class="u">${Number(count) === 1 ? noun : `${noun}s`}</small>`;

/** `before` is null where it is not known. */
function renderCounts(failures: unknown, before: unknown, projects: unknown): Markup {
  const builds =
    before === null
      ? unit(failures, "build")
      : html`<small><span class="u">${Number(failures) === 1 ? "build" : "builds"}, </span>${grouped(Number(before))} before</small>`;
  return html`<span class="n">${grouped(Number(failures))}${builds}</span>
    <span class="n">${grouped(Number(projects))}${unit(projects, "project")}</span>`;
}

function drawDays(
  row: Row,
  days: readonly Row[],
  height: number,
  look: "m-ink" | "m-bad",
  { period, now }: LinesFacts,
): Markup {
  const spans = spansOf(period);
  const counts = countsBySpan(spans, byDay(days, "failures"));
  const of = (isBefore: boolean) =>
    counts.reduce((sum, count, place) => (spans[place]?.isBefore === isBefore ? sum + count : sum), 0);
  const before = period.before === null ? "" : `, ${grouped(of(true))} before`;
  const told = `${kindLabel(row.error_class)} by ${spanNoun(spans)}: ${counted(of(false), "build")} on ${daysName(period, now)}${before}`;
  return drawMiniBars({ spans, counts, most: mostADay(spans, counts), height, told, look, now });
}

/** Whether the line was first seen in the period, where the mirror knows enough of the time before. */
function isNew({ first_triggered_at }: Row, { first, before }: Period): boolean {
  if (before === null || first_triggered_at === null) return false;
  return momentMs(first_triggered_at) >= first * DAY_MS;
}

/** Whether a line came more often than in the period before, by more than chance, and in some projects. */
export function isRising(line: Row, { before }: Pick<Period, "before">): boolean {
  if (before === null || line.failures_before === null) return false;
  const [now, old] = [Number(line.failures), Number(line.failures_before)];
  return Number(line.projects) >= FEWEST_PROJECTS && isMore(now, old);
}

function renderProjects(line: Row, { projects, choice, href, now }: LinesFacts): Markup | string {
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

import { allOf, counted, grouped } from "../../base/text.ts";
import { askEach, type Found, groupBy, sumIn } from "../parts/answers.ts";
import { block, type Empty, renderNoRows } from "../parts/block.ts";
import {
  askForRising,
  changeOf,
  linesHref,
  type RisingLine,
  risenWords,
  sharesWords,
} from "../parts/changes.ts";
import { countsBySpan, drawMiniBars, mostADay, spanNoun, spansOf } from "../parts/charts.ts";
import { foreign, html, type Markup } from "../parts/html.ts";
import { kindLabel, noFailures } from "../parts/kinds.ts";
import { buildLink, projectLink, renderPager, targetTag } from "../parts/links.ts";
import { age, ago, DAY_MS, icon, momentMs, momentTag, when } from "../parts/marks.ts";
import { daysName, lengthWords, type Period, partWords } from "../parts/period.ts";
import {
  askForLines,
  askForShown,
  ERRORS_PATH,
  type ErrorsChoice,
  type ErrorsSaid,
  type ErrorsScope,
  isAllTime,
  keptQuery,
  type LineDay,
  type LineRow,
  PRINT_SORTS,
  PRINTS_PER_PAGE,
  type PrintDay,
  projectsOf,
  WHOLE,
} from "./lines-questions.ts";

/** The lines that are shown, with the days of each and of their kinds, and the projects that they hit. */
interface LinesFacts extends ErrorsScope, ErrorsSaid, Found<ReturnType<typeof askForShown>> {}

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
  asks: (scope: ErrorsScope) => ({ rows: askForLines(scope) }),
  async draw({ rows }, scope, said: ErrorsSaid, tx) {
    const { choice, period, now } = scope;
    const isAll = isAllTime(period);
    const facts: LinesFacts = { ...scope, ...said, ...(await askEach(tx, askForShown(scope, rows))) };
    const total = rows[0]?.kinds ?? 0;
    const isWhole = choice.kind === undefined && isUnfocused(choice);
    const builds = isWhole && !isAll ? `, ${counted(said.failed, "build")}` : "";
    return {
      title: "Errors by kind",
      ...(total > 0 && { count: `${counted(total, "kind")}${builds}` }),
      note: isAll
        ? "The counts are of all known builds: they ignore the dates, because the period is long."
        : partWords(period, scope.at, now),
      body: html`${!isWhole && renderChoice(facts)}
${
  rows.length === 0
    ? renderNoRows(...whyNone(facts))
    : html`${KEY}
<div class="kind-head" aria-hidden="true"><span>Kind, and below it its lines with most builds</span>
  <span>A day, ${daysName({ first: period.start, last: period.last }, now)}</span><span>Builds</span><span>Projects</span></div>
<ol class="kinds">${[...groupBy(rows, ({ error_fingerprint }) => error_fingerprint).values()].map((ofKind) => renderKind(ofKind, facts))}</ol>
${renderLegend(period)}
${renderPager({ path: ERRORS_PATH, kept: keptQuery(choice), page: choice.page, perPage: PRINTS_PER_PAGE, total, noun: "kind" })}`
}`,
    };
  },
});

/** A mask that may hide the cause is framed; one that hides only a place is not. */
const FRAMED = ["‹name›", "‹address›"];
const TOKEN = /(‹(?:name|address|path|number|hash|date)›)/;

/** The text that error lines share, with its masks: they never look like a part of the line. */
function renderMask(mask: unknown, maxLength = 300): Markup {
  if (mask === null || mask === undefined || mask === "") return html`(no error line)`;
  return html`${String(mask)
    .slice(0, maxLength)
    .split(TOKEN)
    .map((part, place) => {
      if (place % 2 === 0) return part === "" ? "" : foreign(part, maxLength);
      return FRAMED.includes(part) ? html`<i>${part}</i>` : html`<i class="at">${part}</i>`;
    })}`;
}

/** The mask hides what may be the cause, so that its builds may have several causes. */
const hidesCause = (mask: unknown): boolean => FRAMED.some((token) => String(mask).includes(token));

function renderChoice({ choice: { kind, line, print }, href }: LinesFacts): Markup {
  const only = line !== undefined ? "one line" : print !== undefined ? "one kind" : `“${kindLabel(kind)}”`;
  return html`<p class="note">Only ${only}. <a href="${href(WHOLE)}">All errors</a></p>`;
}

/** Neither one line nor one kind of line is chosen. */
const isUnfocused = ({ line, print }: ErrorsChoice): boolean => line === undefined && print === undefined;

const KEY = html`<dl class="samekey"><div><dt><svg width="14" height="14" aria-hidden="true">
  <path class="cut" d="M2 0v14" stroke-width="3"/></svg>Same kind</dt>
  <dd>The lines agree except in what a frame like <span class="mask"><i>‹name›</i></span> stands for. A kind may hold many causes:
  its count alone is no alarm.</dd></div>
<div><dt><svg width="14" height="14" aria-hidden="true"><rect class="m-ink" width="4" height="14"/></svg>Same error</dt>
  <dd>The line agrees letter for letter, or differs only in its place, like <span class="mask"><i class="at">‹path›</i></span>.
  Many projects with it point to one cause.</dd></div></dl>`;

function renderLegend({ before, days }: Period): Markup {
  const item = (look: string, words: string) =>
    html`<span><svg width="10" height="10" aria-hidden="true"><rect class="${look}" width="10" height="10"/></svg> ${words}</span>`;
  const these = days === 1 ? "this day" : `these ${lengthWords(days)}`;
  return html`<p class="kinds-key">${before && item("m-quiet", `the ${lengthWords(days)} before`)}
  ${item("m-ink", `${these}${before ? ", within chance" : ""}`)}
  ${before && item("m-bad", `${these}, more than chance`)}
  <span>Each strip has its own scale.</span></p>`;
}

/** Says why the list is empty. A choice that leaves nothing says nothing about builds. */
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
  if (kind !== undefined)
    return ["no-match", "No line of this kind.", `No build of ${of} failed with “${kindLabel(kind)}”.`, ways];
  return failed === 0
    ? noFailures(finished.now)
    : ["unknown", "No error line.", `No failed build of ${of} has one.`];
}

const [KIND_HEIGHT, LINE_HEIGHT] = [28, 22];
/** One project may fail with a new line each day. */
const FEWEST_PROJECTS = 3;

/** A kind by what its lines share, and its lines with most builds; the rest in a row of its own. */
function renderKind(ofKind: readonly [LineRow, ...LineRow[]], facts: LinesFacts): Markup {
  const { printDays, choice } = facts;
  const [first] = ofKind;
  const isSame = first.kind_lines === 1;
  const days = printDays.filter(({ error_fingerprint }) => error_fingerprint === first.error_fingerprint);
  // Its only line, whose name is that of the kind, needs no row of its own.
  const isShown = !isSame || hidesCause(first.mask);
  // Lines of one build each say no more than that there are many.
  const isSpread =
    !isSame &&
    isUnfocused(choice) &&
    ofKind.every(({ failures, most_of_rest }) => failures <= 1 && (most_of_rest ?? 0) <= 1);
  const listed = isSpread ? [] : ofKind;
  const rises = !isShown && isRising(first, facts);
  return html`<li><div class="kind${rises && " rises"}"><div><p class="mask">${renderMask(isShown ? first.mask : first.error_line)}</p>
    <small><span class="tag${isSame && " strong"}">${isSame ? "same error" : "same kind"}</span>
    ${kindLabel(first.error_class)} · ${differenceWords(first)}${!isShown && html` · ${renderHistory(first, facts)}`}</small></div>
    ${drawDays(first, first.kind_failures_before, days, KIND_HEIGHT, rises, facts)}
    ${renderCounts(first.kind_failures, first.kind_failures_before, first.kind_projects)}</div>
${
  isShown
    ? html`<ol class="klines" aria-label="Lines of this kind">${listed.map((line) => renderLine(line, facts))}
        ${choice.line === undefined && renderRest(first, listed, facts)}</ol>`
    : renderProjects(first, facts)
}</li>
`;
}

function differenceWords({ kind_failures: failures, kind_lines: lines, mask }: LineRow): string {
  if (lines > 1)
    return `${grouped(lines)} different lines${hidesCause(mask) ? ", so maybe several causes" : ""}`;
  return `one line in ${failures === 1 ? "one build" : `all ${grouped(failures)}`}`;
}

/** The marks of a line that is new or rises; its first build and its last. */
function renderHistory(line: LineRow, facts: LinesFacts): Markup {
  const { period, now } = facts;
  const isFirst = isNew(line, period);
  const against = `rises: ${risenShares(line, facts)} of builds`;
  const badge = isRising(line, facts)
    ? html`<span class="rise">${icon("up")}${isFirst ? "new" : against}</span>`
    : isFirst && html`<span class="tag">new</span> `;
  return html`${badge}first ${momentTag(line.first_triggered_at, now)} · last
    ${buildLink(line.last_build_id)}, ${ago(line.last_triggered_at, now)}`;
}

function renderLine(line: LineRow, facts: LinesFacts): Markup {
  const days = facts.lineDays.filter(({ error_line_id }) => error_line_id === line.error_line_id);
  const rises = isRising(line, facts);
  return html`<li class="kline${rises && " rises"}"><div><code class="mask">${renderMask(line.error_line)}</code>
    <small>${renderHistory(line, facts)}</small></div>
    ${drawDays(line, line.failures_before, days, LINE_HEIGHT, rises, facts)}
    ${renderCounts(line.failures, line.failures_before, line.projects)}${renderProjects(line, facts)}</li>
`;
}

/** The lines of a kind, of which `first` is one, that are not among the shown ones. */
function renderRest(
  first: LineRow,
  shown: readonly LineRow[],
  { choice, restProjects, href }: LinesFacts,
): Markup | false {
  const left = first.kind_lines - shown.length;
  const builds = first.kind_failures - sumIn(shown, "failures");
  const rest = restProjects.find(({ error_fingerprint }) => error_fingerprint === first.error_fingerprint);
  const hit = shown.length === 0 ? first.kind_projects : rest?.projects;
  const most = counted(Math.max(1, first.most_of_rest ?? 0), "build");
  const words = `${counted(left, shown.length === 0 ? "line" : "more line")}, ${left === 1 ? "with" : "none with more than"} ${most}`;
  const link = html`<a href="${href({ print: first.error_fingerprint })}">${words}</a>`;
  return (
    left > 0 &&
    html`<li class="kline rest"><div>${choice.print === undefined ? link : `${words}: in the files`}</div><span></span>
    <span class="n">${grouped(builds)}${unit(builds, "build")}</span>
    <span class="n">${hit !== undefined && html`${grouped(hit)}${unit(hit, "project")}`}</span></li>`
  );
}

/** The word below a number, which the head says on a wide page. */
const unit = (count: number, noun: string): Markup =>
  html`<small class="u">${count === 1 ? noun : `${noun}s`}</small>`;

/** `before` is null where it is not known. */
const renderCounts = (failures: number, before: number | null, projects: number): Markup =>
  html`<span class="n">${grouped(failures)}${
    before === null
      ? unit(failures, "build")
      : html`<small><span class="u">${failures === 1 ? "build" : "builds"}, </span>${grouped(before)} before</small>`
  }</span>
    <span class="n">${grouped(projects)}${unit(projects, "project")}</span>`;

function drawDays(
  { error_class }: LineRow,
  failuresBefore: number | null,
  days: readonly (PrintDay | LineDay)[],
  height: number,
  rises: boolean,
  { period, now }: LinesFacts,
): Markup {
  const counts = countsBySpan(spansOf(period), days);
  const of = (isBefore: boolean) =>
    sumIn(
      counts.filter((span) => span.isBefore === isBefore),
      "count",
    );
  const before = period.before === null ? "" : `, ${grouped(failuresBefore ?? of(true))} before`;
  const told = `${kindLabel(error_class)} by ${spanNoun(counts)}: ${counted(of(false), "build")} on ${daysName(period, now)}${before}`;
  return drawMiniBars({
    counts,
    most: mostADay(counts),
    height,
    told,
    look: rises ? "m-bad" : "m-ink",
    now,
  });
}

/** The line was first seen in the period, and the mirror knows enough of the time before. */
const isNew = ({ first_triggered_at }: LineRow, { first, before }: Period): boolean =>
  before !== null && first_triggered_at !== null && momentMs(first_triggered_at) >= first * DAY_MS;

type Failures = Pick<LineRow, "failures" | "failures_before">;
const failuresOf = (line: Failures) => ({ now: line.failures, before: line.failures_before ?? 0 });

/** The share that a line has of the finished builds, against the one before: `3.1 % against 1.2 %`. */
export const risenShares = (line: Failures, { finished }: Pick<ErrorsSaid, "finished">): string =>
  sharesWords(failuresOf(line), finished);

/** More of the builds failed with the line than in the period before, by more than chance, and in some projects. */
export const isRising = (
  line: Failures & Pick<LineRow, "projects">,
  { period: { before }, finished }: Pick<LinesFacts, "period" | "finished">,
): boolean =>
  before !== null &&
  line.failures_before !== null &&
  line.projects >= FEWEST_PROJECTS &&
  changeOf(failuresOf(line), finished) > 0;

function renderProjects(line: LineRow, { projects, choice, href, now }: LinesFacts): Markup | false {
  const hit = projects.filter(({ error_line_id }) => error_line_id === line.error_line_id);
  const left = line.projects - hit.length;
  const more = href({ line: line.error_line_id });
  return (
    hit.length > 0 &&
    html`
<details class="also"${choice.line !== undefined && html` open`}><summary>${counted(line.projects, "project")}
  <span class="unseen"> with ${kindLabel(line.error_class)}: ${renderMask(line.error_line, 80)}</span></summary><ul>${hit.map(
    (row) => html`<li>${age(row.triggered_at, now)} ${projectLink(row.project_slug)} ${targetTag(row)} <span>
        ${row.failures > 1 && `${grouped(row.failures)} builds, `}last ${buildLink(row.build_id)}</span></li>`,
  )}${
    left > 0 &&
    html`<li><span>the latest ${projectsOf(choice)}</span> <a href="${more}">and ${grouped(left)} more</a></li>`
  }</ul></details>`
  );
}

/** The lines that rose in the last 24 hours, those of the most projects first. Nothing where none did. */
export const risen = block({
  id: "risen",
  narrowedBy: {},
  asks: ({ at }: ErrorsScope) => ({ rows: askForRising(at) }),
  draw({ rows }, { now, at, isNow }) {
    if (rows.length === 0) return null;
    return {
      title: isNow ? "Rose in 24 hours" : `Rose in the 24 hours before ${when(at, now)}`,
      count: counted(rows.length, "line"),
      note: "Lines that came in many projects and more often than chance explains: each points to one cause.",
      body: html`<ol class="klines risen">${rows.map((one) => renderRiser(one, now, at))}</ol>`,
    };
  },
});

function renderRiser(one: RisingLine, now: Date, at: Date): Markup {
  const against = `rises: ${risenWords(one)}`;
  return html`<li class="kline rises">
    <strong><a href="${linesHref({ line: one.error_line_id }, at)}">${counted(one.projects, "project")}</a>
    since ${when(one.since, now)}:</strong> <code class="mask">${renderMask(one.error_line)}</code>
    <small><span class="rise">${icon("up")}${one.failures_before === 0 ? "new" : against}</span>
    ${counted(one.failures, "build")}, the first ${buildLink(one.first_build_id)}, ${momentTag(one.since, now)}</small></li>
`;
}

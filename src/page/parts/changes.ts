/** Counts of builds by their outcomes: rates with their intervals, also by days, the changes that are more than chance, and the lines that rise so. */
import { counted, grouped } from "../../base/text.ts";
import { inline } from "../../report/ask.ts";
import { wilsonInterval } from "../../report/wilson-interval.ts";
import { type Asks, question, sumIn } from "./answers.ts";
import { type Span, spansOf } from "./charts.ts";
import type { PageMoment } from "./freshness.ts";
import { foreign, html, type Markup, percent, shorten, wholePercent } from "./html.ts";
import { buildHref, withQuery } from "./links.ts";
import { icon, when } from "./marks.ts";
import { type Days, dayNumber, dayText, type Period, rowsIn } from "./period.ts";

/** The builds that succeeded, of those that finished. A sum over no rows is null. */
export interface Count {
  readonly succeeded: number | null;
  readonly finished: number | null;
}

/** The count of some rows. */
export const countOf = (rows: readonly Count[]) => ({
  succeeded: sumIn(rows, "succeeded"),
  finished: sumIn(rows, "finished"),
});

/** A share of 0 to 1 within its 95 % interval. */
interface Rate {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The rate of a count; null where nothing finished, or nothing is known. */
export function rateOf(count: Count | null): Rate | null {
  const [succeeded, finished] = [count?.succeeded ?? 0, count?.finished ?? 0];
  const interval = wilsonInterval(succeeded, finished);
  return interval && { share: succeeded / finished, ...interval };
}

/** The share in words, as `percent` or `wholePercent` has it; a dash where nothing finished. */
export function shareWords(count: Count | null, words = percent): string {
  const rate = rateOf(count);
  return rate === null ? "–" : words(rate.share);
}

/** `49 % to 94 %`: how sure a rate is. */
export const intervalWords = ({ low, high }: Rate, to = " to "): string =>
  `${wholePercent(low)}${to}${wholePercent(high)}`;

interface Difference {
  /** Share after minus share before, -1 to 1. */
  readonly by: number;
  readonly low: number;
  readonly high: number;
  /** The interval has 0 in it, so chance alone may have made the difference. */
  readonly isChance: boolean;
}

/**
 * The difference between two success rates, by Newcombe's interval from the two Wilson intervals. Null where
 * nothing finished before or after.
 */
export function differenceOf(after: Count, before: Count | null): Difference | null {
  const [p, q] = [rateOf(after), rateOf(before)];
  if (!p || !q) return null;
  const by = p.share - q.share;
  const low = Math.max(-1, by - Math.hypot(p.share - p.low, q.high - q.share));
  const high = Math.min(1, by + Math.hypot(p.high - p.share, q.share - q.low));
  return { by, low, high, isChance: low <= 0 && high >= 0 };
}

/** A rate is lower than another by more than chance. */
export function isLower(after: Count, before: Count): boolean {
  const difference = differenceOf(after, before);
  return difference !== null && !difference.isChance && difference.by < 0;
}

const directionOf = (step: number) => (step === 0 ? "same" : step > 0 ? "up" : "down");
const UNKNOWN = html`<small class="quiet">nothing to compare it with</small>`;

/** A change with its arrow. `kind` colours it: good, bad, the same, or within chance. */
const renderDelta = (kind: string, step: number, words: Markup | string): Markup =>
  html`<span class="delta ${kind}">${icon(directionOf(step))}${words}</span>`;

/** A change of a rate in points. Only what is more than chance is coloured. */
export function renderPoints({ by, isChance }: Pick<Difference, "by" | "isChance">): Markup {
  const points = (Math.abs(by) * 100).toFixed(1);
  const step = points === "0.0" ? 0 : by;
  const kind = { same: "same", up: "good", down: "bad" }[directionOf(step)];
  const direction = step === 0 ? "" : `${directionOf(step)} `;
  return renderDelta(
    isChance ? "chance" : kind,
    step,
    html`<span class="unseen">${direction}</span>${points}\u00a0points`,
  );
}

/** A difference in points with its sign: `+1.1`, `−0.5`. */
export function points(difference: number): string {
  const rounded = (Math.abs(difference) * 100).toFixed(1);
  return rounded === "0.0" ? rounded : `${difference < 0 ? "−" : "+"}${rounded}`;
}

/** The difference of two rates in points, with its interval where there is room. */
export function rateChange(now: Count, before: Count, hasRoom = true): Markup {
  const difference = differenceOf(now, before);
  if (difference === null) return UNKNOWN;
  const { low, high, isChance } = difference;
  return html`${renderPoints(difference)} <small class="quiet">
    ${chanceWords(isChance)}
    ${hasRoom && html`<span class="gone">: ${points(low)} to ${points(high)}</span>`}</small>`;
}

const [LEFT, WIDTH] = [4, 64];

/** A rate as a dot on its 95 % interval, with "6 of 10". A dash where nothing finished. */
export function rateDot(count: Count): Markup {
  const rate = rateOf(count);
  if (rate === null) return html`<span class="rate"><b>–</b><small>none finished</small></span>`;
  const x = (share: number) => (LEFT + WIDTH * share).toFixed(1);
  return html`<span class="rate"><b>${wholePercent(rate.share)}</b>
    <svg class="wh" role="img" width="72" height="12" viewBox="0 0 72 12" aria-label="95 % interval ${intervalWords(rate)}">
    <path class="wh-axis" d="M4 6H68"/><path class="wh-range" d="M${x(rate.low)} 6H${x(rate.high)}"/>
    <circle class="wh-dot" cx="${x(rate.share)}" cy="6" r="3.4"/></svg>
    <small>${grouped(count.succeeded ?? 0)} of ${grouped(count.finished ?? 0)}</small></span>`;
}

/** Among sixty spans or hundreds of lines some lie outside of a 95 % interval by chance; 1.6 times as wide, it is one of 99.8 %. */
const WIDER = 1.6;

/** Whether one difference among many is surely up (1), surely down (-1), or may be chance (0). */
function sureSign({ by, low, high }: Difference): -1 | 0 | 1 {
  if (by - WIDER * (by - low) > 0) return 1;
  return by + WIDER * (high - by) < 0 ? -1 : 0;
}

/** Of a period and of the one before it. */
export interface BothPeriods {
  readonly now: number;
  readonly before: number;
}

/**
 * How the share changed that some builds have of those that finished, by more than chance. Every page asks by this one test, for kinds, lines
 * and breaks: more builds alone are no more errors. 0 where nothing finished in one of the periods.
 */
export function changeOf(some: BothPeriods, finished: BothPeriods): -1 | 0 | 1 {
  const difference = shareDifference(some, finished);
  return difference === null ? 0 : sureSign(difference);
}

const shareDifference = (some: BothPeriods, finished: BothPeriods): Difference | null =>
  differenceOf(
    { succeeded: some.now, finished: finished.now },
    { succeeded: some.before, finished: finished.before },
  );

/** `3.1 % against 1.2 %` of the finished builds. */
export const sharesWords = (some: BothPeriods, finished: BothPeriods): string =>
  `${percent(some.now / finished.now)} against ${percent(some.before / finished.before)}`;

const chanceWords = (isChance: boolean): string => (isChance ? "within chance" : "more than chance");

/** A change of a share in percent of it, such as `+79 %`, `new` and `gone`; coloured only where it is more than chance, and more is worse. */
export function renderShareChange(some: BothPeriods, finished: BothPeriods): Markup {
  const difference = shareDifference(some, finished);
  if (difference === null) return UNKNOWN;
  const { by } = difference;
  const sure = sureSign(difference);
  const change = Math.max(1, Math.round((100 * Math.abs(by) * finished.before) / some.before));
  const words =
    by === 0
      ? "no change"
      : some.before === 0
        ? "new"
        : some.now === 0
          ? "gone"
          : `${by > 0 ? "+" : "−"}${grouped(change)}\u00a0%`;
  const kind = sure === 0 ? "chance" : sure > 0 ? "bad" : "good";
  return html`${renderDelta(kind, by, words)} <small>${chanceWords(sure === 0)}</small>`;
}

/** A change as a plain number, which judges nothing: `+35`. */
export function renderCountStep(now: number, before: number): Markup {
  const step = now - before;
  const words = step === 0 ? "no change" : `${step > 0 ? "+" : "−"}${grouped(Math.abs(step))}`;
  return renderDelta("same", step, words);
}

/** The outcomes of some builds. */
interface Counts {
  readonly builds: number;
  readonly finished: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unfinished: number;
  readonly cancelled: number;
}

/** A day of `report.success_rate_daily`; its counts are null where no sync has covered it. */
export type OutcomesRow = { readonly [Name in keyof Counts]: number | null } & {
  readonly day: string;
  readonly is_complete: boolean | null;
};

/** The outcomes of the builds of some days; complete when all of the days are over, and none of their builds is open. */
export interface Outcomes extends Counts {
  readonly isComplete: boolean;
}

/** The rows of each span; its outcomes are null where no sync has covered any of its days. */
export const outcomesBySpan = <R extends OutcomesRow>(rows: readonly R[], period: Period) =>
  spansOf(period).map((span): SpanOutcomes & { readonly rows: readonly R[] } => ({
    ...span,
    rows: rowsIn(rows, span),
    outcomes: outcomesOf(rows, span),
  }));

export interface SpanOutcomes extends Span {
  readonly outcomes: Outcomes | null;
}

/** The outcomes of some days; null where no row says anything of them. */
export function outcomesOf(rows: readonly OutcomesRow[], days: Days | null): Outcomes | null {
  const known = days === null ? [] : rowsIn(rows, days).filter(({ finished }) => finished !== null);
  return known.length === 0 ? null : sumUp(known);
}

/** The builds that finished in a period, and in the one before it. */
export const finishedOf = (rows: readonly OutcomesRow[], period: Period): BothPeriods => ({
  now: outcomesOf(rows, period)?.finished ?? 0,
  before: outcomesOf(rows, period.before)?.finished ?? 0,
});

function sumUp(rows: readonly OutcomesRow[]): Outcomes {
  const sum = (name: keyof Counts) => sumIn(rows, name);
  return {
    builds: sum("builds"),
    finished: sum("finished"),
    succeeded: sum("succeeded"),
    failed: sum("failed"),
    unfinished: sum("unfinished"),
    cancelled: sum("cancelled"),
    isComplete: rows.every(({ is_complete }) => is_complete === true),
  };
}

export const NO_BUILDS = sumUp([]);

/** A part of a period has a lower rate than the rest of it, by more than chance. */
export function isSurelyLower(part: Counts, whole: Counts): boolean {
  const rest: Count = {
    succeeded: whole.succeeded - part.succeeded,
    finished: whole.finished - part.finished,
  };
  const difference = differenceOf(part, rest);
  return difference !== null && sureSign(difference) < 0;
}

/** An error line that more of the builds of the last 24 hours failed with than chance explains, in many projects. */
export interface RisingLine {
  readonly error_line_id: string;
  readonly error_line: string;
  /** In the 24 hours. */
  readonly projects: number;
  readonly failures: number;
  /** In the 28 days before. */
  readonly failures_before: number;
  /** All builds that finished in each of them. */
  readonly finished: number;
  readonly finished_before: number;
  /** The trigger and the id of the first build of the 24 hours. */
  readonly since: string;
  readonly first_build_id: string;
}

/** An error line without the name of its class, which says less: `No module named 'foo'`. */
export const sayingOf = (line: string, most = 90): string =>
  shorten(line.replace(/^(?:\w+\.)*(?:\w*(?:Error|Exception)|ERROR|error|fatal): (?=.)/, ""), most);

/** `3.1 % against 1.2 % of the finished builds in the 28 days before`. */
export function risenWords(one: RisingLine): string {
  const failures = { now: one.failures, before: one.failures_before };
  const finished = { now: one.finished, before: one.finished_before };
  return `${sharesWords(failures, finished)} of the finished builds in the 28 days before`;
}

/**
 * The verdict of a line that rises, as each page has it: `“No module named 'foo'” began at 22 Nov 03:10 and hit 40 projects.` One that came before
 * rises, or rose where that is not of now. `evidence` has nothing of other lines, and no end. The links are to all projects that it hit, and to
 * the first of its builds.
 */
export function sayRising(one: RisingLine, { now, at, isNow }: Pick<PageMoment, "now" | "at" | "isNow">) {
  const isFirst = one.failures_before === 0;
  const [saying, since] = [`“${sayingOf(one.error_line)}”`, when(one.since, now)];
  const projects = counted(one.projects, "project");
  const builds = `The same line in ${counted(one.failures, "build")}`;
  return {
    title: `↑ ${sayingOf(one.error_line, 40)} hit ${projects}`,
    mark: ["rises", "An error rises"] as const,
    sentence: isFirst
      ? `${saying} began at ${since} and hit ${projects}.`
      : `${saying} ${isNow ? "rises" : "rose"}: it hit ${projects} since ${since}.`,
    evidence: isFirst
      ? `${builds}, and in none of the 28 days before`
      : `${builds} of 24 hours: ${risenWords(one)}`,
    links: [
      html`<a href="${linesHref({ line: one.error_line_id }, at)}">The ${projects}</a>`,
      html`<a href="${buildHref(one.first_build_id)}">The first of them, build ${foreign(one.first_build_id, 24)}</a>`,
    ] as const,
  };
}

/** The page of one error line, or of one kind, in the days up to `at`, its day included. */
export function linesHref(of: { line: string } | { print: string }, at: Date, days = 14): string {
  const today = dayNumber(at.toISOString());
  return `${withQuery("/errors", { since: dayText(today - days + 1), until: dayText(today), ...of })}#lines`;
}

const RISING_LINES = question<RisingLine>("rising_lines", import.meta.url);

/**
 * The error lines that hit five projects or more in the 24 hours up to `at`, and of which the share of the finished builds more than doubled since
 * the 28 days before, or since as many as are known, at least seven: by the test of `changeOf`, because files have these rows too.
 */
export const askForRising = (at: Date): Asks<RisingLine> =>
  RISING_LINES({ now: at.toISOString(), wider: inline(WIDER) });

import { scaleUtc } from "d3-scale";
import { type SQL, sql } from "drizzle-orm";
import { formatBetween } from "../../mirror/builds/format-span.ts";
import { inline } from "../../report/ask.ts";
import { html, type Markup } from "./html.ts";
import { clockWords, DAY_MS, dayWords, MINUTE_MS, secondWords } from "./marks.ts";
import { type Days, dayName, type Period } from "./period.ts";

type Place = number | string;

/** How bars look: solid what is sure, hatched what may be, red and green what became of builds. */
export const LOOKS = {
  ink: html`class="m-ink"`,
  good: html`class="m-good"`,
  bad: html`fill="url(#hatch-bad)"`,
  failed: html`class="m-bad"`,
  perhaps: html`fill="url(#hatch)" class="m-edge"`,
  unfinished: html`fill="url(#dots)" class="m-edge"`,
} as const;

export type Look = keyof typeof LOOKS;

interface PlotFacts {
  readonly height: number;
  /** What the chart shows, for those who do not see it. */
  readonly told: string;
  /** The words of the vertical axis, each at its base line. */
  readonly labels: readonly { readonly y: Place; readonly words: string }[];
  /** Where the labels end. @default 40 */
  readonly labelsTo?: number;
  readonly body: Markup;
}

/** A chart as wide as its block, with the labels of its vertical axis beside it. */
export function drawPlot({ height, told, labels, labelsTo = 40, body }: PlotFacts): Markup {
  const texts = labels.map(
    ({ y, words }) => html`<text class="end" x="${labelsTo}" y="${y}">${words}</text>`,
  );
  return html`<div class="chart">
    <svg width="48" height="${height}" aria-hidden="true">${texts}</svg>
    <svg class="plot" role="img" height="${height}" aria-label="${told}">
${body}
</svg></div>`;
}

/** A line from side to side: a tick of the axis, or its base. */
export const levelLine = (y: Place, kind: "grid" | "base" = "grid"): Markup =>
  html`<line class="${kind}" x1="0" x2="100%" y1="${y}" y2="${y}"/>`;

/** A line from the top down: where something begins. */
export const uprightLine = (x: Place, height: number, kind: "cut" | "grid" = "cut"): Markup =>
  html`<line class="${kind}" x1="${x}" x2="${x}" y1="0" y2="${height}"/>`;

/** A bar of a chart; its place and width come from the axis. */
export function drawBar(
  look: Look,
  { x, width }: { readonly x: Place; readonly width: Place },
  y: Place,
  height: number,
): Markup {
  return html`<rect ${LOOKS[look]} x="${x}" width="${width}" y="${y}" height="${height.toFixed(1)}"/>`;
}

/** What the marks of a chart mean, in a line below it. */
export const renderKey = (entries: readonly (Markup | string)[]): Markup =>
  html`<p class="key">${entries}</p>`;

/** An entry of a key: a drawing in a box of `size`, and its meaning. */
export function keyEntry(
  size: readonly [width: number, height: number],
  shape: Markup,
  words: Markup | string,
) {
  return html`<span><svg width="${size[0]}" height="${size[1]}" aria-hidden="true">${shape}</svg>${words}</span>`;
}

/** An entry for a bar, as a small square. */
export function swatch(look: Look, words: string): Markup {
  const hasEdge = look === "perhaps" || look === "unfinished";
  const box = hasEdge ? html`x="0.5" y="0.5" width="11" height="11"` : html`width="12" height="12"`;
  return keyEntry([12, 12], html`<rect ${LOOKS[look]} ${box}/>`, words);
}

/** More marks than these blur on a phone. */
const MOST_MARKS = 62;
/** The lengths that a mark may stand for, in days. */
const LENGTHS = [1, 7, 28, 364];

/** The days that one mark of a chart stands for. */
export interface Span extends Days {
  readonly days: number;
  /** Whether it belongs to the period before. */
  readonly isBefore: boolean;
}

/**
 * The days of a period, and of the one before it, in spans of 1, 7, 28 or 364 days. Each period is cut from its
 * end, so that no span belongs to both; its first one may be shorter.
 */
export function spansOf({ before, first, last, start }: Period): Span[] {
  const length = LENGTHS.find((days) => (last - start + 1) / days <= MOST_MARKS) ?? 364;
  return [...(before === null ? [] : cut(before, length, true)), ...cut({ first, last }, length, false)];
}

function cut({ first, last }: Days, length: number, isBefore: boolean): Span[] {
  const spans: Span[] = [];
  for (let end = last; end >= first; end -= length) {
    const begin = Math.max(first, end - length + 1);
    spans.unshift({ first: begin, last: end, days: end - begin + 1, isBefore });
  }
  return spans;
}

/** What a mark stands for: `day`, `week`, or `28 days`. */
export function spanNoun(spans: readonly Span[]): string {
  const longest = Math.max(1, ...spans.map(({ days }) => days));
  return longest === 1 ? "day" : longest <= 7 ? "week" : longest <= 28 ? "28 days" : "year";
}

const MOST_TICKS = 8;

/** As an attribute: `12.34%`. */
export const at = (share: number): string => `${Number(share.toFixed(3))}%`;

/** The axis from the first to the last of the spans: places in percent, so that a chart is as wide as its block. */
export function dayAxis(spans: readonly Days[]) {
  const start = spans[0]?.first ?? 0;
  const days = (spans.at(-1)?.last ?? start) - start + 1;
  const begin = (day: number) => (100 * (day - start)) / days;
  const air = spans.length > 120 ? 0 : 0.16;
  return {
    /** Where a day begins. */
    begin,
    middle: ({ first, last }: Days) => (begin(first) + begin(last + 1)) / 2,
    /** The place and width of a bar, with some air on both sides. */
    bar({ first, last }: Days) {
      const width = begin(last + 1) - begin(first);
      return { x: at(begin(first) + width * air), width: at(width * (1 - 2 * air)) };
    },
  };
}

export type DayAxis = ReturnType<typeof dayAxis>;

/** The dates below a chart, at height `y`; a phone has every second one. */
export function drawDates(spans: readonly Span[], axis: DayAxis, y: number, now: Date): Markup {
  const ticked = tickedSpans(spans).filter((span) => {
    const x = axis.middle(span);
    return spans.length <= 3 || (x > 3 && x < 97);
  });
  return html`${ticked.map((span, place) => {
    const isNearEdge = axis.middle(span) < 9 || axis.middle(span) > 94;
    const isKept = spans.length <= 3 || (place % 2 === 0 && !isNearEdge);
    const kind = isKept ? "mid" : "mid t3";
    return html`<text class="${kind}" x="${at(axis.middle(span))}" y="${y}">${dayName(span.first, now)}</text>`;
  })}`;
}

function tickedSpans(spans: readonly Span[]): readonly Span[] {
  const [first, last] = [spans[0], spans.at(-1)];
  if (first === undefined || last === undefined || spans.length <= MOST_TICKS) return spans;
  const days = scaleUtc([first.first * DAY_MS, (last.last + 1) * DAY_MS], [0, 1])
    .ticks(MOST_TICKS)
    .map((moment) => Math.floor(moment.getTime() / DAY_MS));
  const every = Math.ceil(days.length / MOST_TICKS);
  const ticked = days
    .filter((_, place) => place % every === 0)
    .flatMap((day) => spans.filter((span) => span.first <= day && day <= span.last));
  return [...new Set(ticked)];
}

/** A word this close to an end would leave the drawing, in percent. */
const MARGIN = 3;
/** The scale may give more ticks than it was given as a number, where round moments are dense. */
const MOST_TIMES = 9;

/** An axis from one moment to another, both in milliseconds. Times are in UTC. */
export function timeAxis(from: number, to: number, now: Date) {
  const scale = scaleUtc().domain([from, to]).range([0, 100]).clamp(true);
  const at = (ms: number): number => scale(ms);
  const x = (ms: number): string => `${at(ms).toFixed(2)}%`;
  return {
    /** A moment as a place from 0 to 100; what lies outside is at the end. */
    at,
    /** The same as an attribute. */
    x,
    /** Lines and words of round moments, over `height` pixels, the words below. */
    draw(height: number): Markup {
      const all = scale.ticks(8).map(Number);
      const ticks = all.filter((_, place) => place % Math.ceil(all.length / MOST_TIMES) === 0);
      const step = (ticks[1] ?? to) - (ticks[0] ?? from);
      const words = (ms: number) =>
        step >= DAY_MS ? dayWords(ms, now) : step >= MINUTE_MS ? clockWords(ms) : secondWords(ms);
      return html`${ticks.map((ms, place) => {
        const isNear = at(ms) < MARGIN || at(ms) > 100 - MARGIN;
        const text = html`<text class="mid${place % 2 === 1 ? " t3" : ""}" x="${x(ms)}" y="${height + 18}">${words(ms)}</text>`;
        return html`<line class="grid" x1="${x(ms)}" x2="${x(ms)}" y1="0" y2="${height}"/>${isNear ? "" : text}`;
      })}`;
    },
  };
}

/** The ticks of the axis, in seconds. */
const TICKS = [
  { s: 1, words: "1 s" },
  { s: 10, words: "10 s" },
  { s: 60, words: "1 min" },
  { s: 600, words: "10 min" },
  { s: 3600, words: "1 h" },
  { s: 21_600, words: "6 h" },
  { s: 86_400, words: "1 d" },
  { s: 604_800, words: "7 d" },
  { s: 2_592_000, words: "30 d" },
  { s: 31_536_000, words: "1 y" },
];

/** A length of time that is known between two bounds, in seconds. */
export interface Bound {
  readonly least: number;
  readonly most: number;
}

/** The ticks around some times: a logarithmic axis begins and ends where these do. */
export function ticksAround(bounds: readonly Bound[]): typeof TICKS {
  const least = Math.min(...bounds.map(({ least, most }) => (least >= 1 ? least : Math.max(1, most))));
  const most = Math.max(...bounds.map(({ most }) => most));
  const below = TICKS.findLastIndex(({ s }) => s < least);
  const from = Math.max(0, below);
  const to = TICKS.findIndex(({ s }) => s >= most);
  return TICKS.slice(from, Math.max(from + 2, to === -1 ? TICKS.length : to + 1));
}

interface BoundRow {
  readonly label: Markup | string;
  readonly bound: Bound;
  readonly words: string;
}

/** Times as a list of bars on one axis, each between its label and its words. */
export function boundList(rows: readonly BoundRow[], kind = "bounds"): Markup {
  const bounds = rows.map(({ bound }) => bound);
  const ticks = ticksAround(bounds);
  const first = ticks[0]?.s ?? 1;
  const last = Math.max(ticks.at(-1)?.s ?? 1, ...bounds.map(({ most }) => most));
  const at = (seconds: number) => (100 * Math.log(Math.max(first, seconds) / first)) / Math.log(last / first);
  const x = (seconds: number) => `${at(seconds).toFixed(2)}%`;
  const places = ticks.map((tick, place) => ({ ...tick, kind: kindOf(place, ticks.length, at(tick.s)) }));
  const draw = ({ least, most }: Bound) => {
    const told = formatBetween({ least_ms: least * 1000, most_ms: most * 1000 });
    const perhaps = Math.max(0.5, at(most) - at(least)).toFixed(2);
    return html`<svg class="mini" height="16" role="img" aria-label="${told}">
    ${ticks.map(({ s }) => uprightLine(x(s), 16, "grid"))}
    ${at(least) > 0 ? html`<rect class="m-ink" x="0" width="${x(least)}" y="4" height="8" rx="1"/>` : ""}
    <rect fill="url(#hatch)" class="m-edge" x="${x(least)}" width="${perhaps}%" y="4" height="8"/></svg>`;
  };
  return html`<ul class="${kind}">
    <li class="bound-axis" aria-hidden="true"><span></span><svg class="mini" height="16">${places.map(
      ({ s, words, kind }) => html`<text class="${kind}" x="${x(s)}" y="12">${words}</text>`,
    )}</svg><span></span></li>${rows.map(
      ({ label, bound, words }) =>
        html`<li><span>${label}</span>${draw(bound)}<span class="n">${words}</span></li>`,
    )}</ul>`;
}

/** How the words of a tick stand. Every second one is left out where the page is narrow. */
function kindOf(place: number, count: number, at: number): string {
  if (place === 0) return "";
  if (at > 97) return "end";
  return count > 4 && place % 2 === 1 ? "mid t2" : "mid";
}

/** What the two parts of such bars mean. */
export function renderBoundKey(surely: string, perhaps: string): Markup {
  const open = html`<rect fill="url(#hatch)" class="m-edge" x="0.5" y="1.5" width="19" height="7"/>`;
  const sure = html`<rect class="m-ink" width="20" height="8" y="1"/>`;
  return renderKey([keyEntry([20, 10], sure, surely), keyEntry([20, 10], open, perhaps)]);
}

/**
 * A time between two bounds is shown where they are so near each other, in seconds. Wider bounds tell when somebody
 * looked, not how long a build took. A watch looks each minute.
 */
const KNOWN_WITHIN_S = 300;
export const KNOWN_WITHIN = "five minutes";

/** Whether the bounds of a time are near enough. */
export const isKnownTime = (least: SQL, most: SQL): SQL =>
  sql`${most} - ${least} <= ${inline(KNOWN_WITHIN_S)}`;

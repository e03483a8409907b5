import { scaleUtc } from "d3-scale";
import { grouped } from "../../base/text.ts";
import { sumIn } from "./answers.ts";
import { html, type Markup } from "./html.ts";
import { clockWords, DAY_MS, dayWords, MINUTE_MS, secondWords } from "./marks.ts";
import { type Days, dayName, daysName, type Period, rowsIn } from "./period.ts";

/** The looks of bars: solid what is sure, hatched what may be, red and green what became of builds. */
export const BAR_LOOKS = {
  ink: html`class="m-ink"`,
  good: html`class="m-good"`,
  bad: html`fill="url(#hatch-bad)"`,
  perhaps: html`fill="url(#hatch)" class="m-edge"`,
  unfinished: html`fill="url(#dots)" class="m-edge"`,
  cancelled: html`fill="none" class="m-edge"`,
} as const;

export type BarLook = keyof typeof BAR_LOOKS;

/** A length of a drawing, to a tenth of a pixel. */
export const px = (length: number): number => Number(length.toFixed(1));

/** A place on the vertical axis, from the top down, and its words. */
interface Tick {
  readonly y: number;
  readonly words: string;
}

/** Below the lowest tick of an axis that does not begin at zero. */
export const notZero = (y: number): Tick => ({ y: y + 14, words: "not 0" });

interface PlotFacts {
  readonly height: number;
  /** The chart in words, for those who do not see it. */
  readonly told: string;
  readonly labels: readonly Tick[];
  readonly body: Markup;
}

/** A chart as wide as its block, with the labels of its vertical axis beside it. */
export function drawPlot({ height, told, labels, body }: PlotFacts): Markup {
  return html`<div class="chart">
    <svg width="48" height="${height}" aria-hidden="true">${labels.map(
      ({ y, words }) => html`<text class="end" x="40" y="${px(y + 4)}">${words}</text>`,
    )}</svg>
    <svg class="plot" role="img" height="${height}" aria-label="${told}">
${body}
</svg></div>`;
}

/** A line from side to side: a tick of the axis, or its base. */
export const levelLine = (y: number, kind: "grid" | "base" = "grid"): Markup =>
  html`<line class="${kind}" x1="0" x2="100%" y1="${px(y)}" y2="${px(y)}"/>`;

/** A line from the top down: where something begins. */
export const uprightLine = (
  x: number | string,
  height: number,
  kind: "cut" | "grid" | "since" = "cut",
): Markup => html`<line class="${kind}" x1="${x}" x2="${x}" y1="0" y2="${height}"/>`;

/** A place and a width from side to side, as attributes. */
interface Bar {
  readonly x: string;
  readonly width: string;
}

/** A bar of a chart, from `y` down. */
export const drawBar = (look: BarLook, { x, width }: Bar, y: number, height: number): Markup =>
  html`<rect ${BAR_LOOKS[look]} x="${x}" width="${width}" y="${px(y)}" height="${px(height)}"/>`;

interface BarChartFacts<S extends Span> {
  readonly height: number;
  readonly told: string;
  /** The ticks of the vertical axis, each with a line from side to side. */
  readonly ticks: readonly Tick[];
  /** Other words beside it. @default none */
  readonly labels?: readonly Tick[];
  readonly spans: readonly S[];
  /** The bars of a span, and what they say; null where there are none. One without a height is not drawn. */
  bars(span: S): readonly [words: string, ...bars: (readonly [BarLook, y: number, height: number])[]] | null;
  /** The height of the line on which they stand. */
  readonly base: number;
  /** The place where the period begins, in percent, and how far down its line goes. @default no such line */
  readonly cut?: readonly [place: number | null, height: number];
  /** Dates below the bars. @default another chart has them */
  readonly hasDates?: boolean;
  readonly now: Date;
}

/** A chart of bars by days, or by longer spans. */
export function drawBars<S extends Span>(facts: BarChartFacts<S>): Markup {
  const { height, told, ticks, labels = [], spans, base, cut = [null, 0], hasDates, now } = facts;
  const axis = dayAxis(spans);
  return drawPlot({
    height,
    told,
    labels: [...ticks, ...labels],
    body: html`${ticks.map(({ y }) => levelLine(y))}
${spans.map((span) => {
  const [words, ...bars] = facts.bars(span) ?? [];
  return (
    words &&
    html`<g${span.isBefore && html` class="before"`}><title>${daysName(span, now)}: ${words}</title>${bars.map(
      ([look, y, high]) => high > 0 && drawBar(look, axis.bar(span), y, high),
    )}</g>`
  );
})}
${drawCut(...cut)}${levelLine(base, "base")}${hasDates && drawDates(spans, axis, height - 4, now)}`,
  });
}

/** The line where a period begins, at a place in percent; nothing where nothing is before it. */
export const drawCut = (place: number | null, height: number): Markup | "" =>
  place === null ? "" : uprightLine(at(place), height);

interface MiniBarsFacts {
  readonly counts: readonly SpanCount[];
  /** The largest count a day: as high as the chart. */
  readonly most: number;
  /** In pixels. */
  readonly height: number;
  /** The chart in words, for those who do not see it. */
  readonly told: string;
  /** The line of the period itself. */
  readonly look: "m-bad" | "m-ink";
  readonly now: Date;
}

interface SpanCount extends Span {
  readonly count: number;
}

/** Counts as small bars, by their counts a day; the grey half is the period before. */
export function drawMiniBars({ counts, most, height, told, look, now }: MiniBarsFacts): Markup {
  const axis = dayAxis(counts);
  const room = height - 3;
  return html`<svg class="mini" height="${height}" role="img" aria-label="${told}">${counts.map((span) => {
    const high = Math.max(1, (room * span.count) / span.days / Math.max(most, 1e-9));
    const { x, width } = axis.bar(span);
    return (
      span.count > 0 &&
      html`<g><title>${daysName(span, now)}: ${grouped(span.count)}</title>
        <rect class="${span.isBefore ? "m-quiet" : look}" x="${x}" width="${width}"
        y="${px(height - 1 - high)}" height="${px(high)}"/></g>`
    );
  })}${levelLine(height - 0.5, "base")}</svg>`;
}

/** The failures of each span, from those of days. */
export const countsBySpan = (
  spans: readonly Span[],
  days: readonly { readonly day: string; readonly failures: number }[],
): SpanCount[] => spans.map((span) => ({ ...span, count: sumIn(rowsIn(days, span), "failures") }));

/** The largest count a day. */
export const mostADay = (counts: readonly SpanCount[]): number =>
  Math.max(0, ...counts.map(({ count, days }) => count / days));

interface TimelineFacts {
  /** Its rows by their names, each with the height of its words. */
  readonly names: readonly Tick[];
  /** The height of the rows, in pixels. */
  readonly height: number;
  readonly told: string;
  readonly axis: TimeAxis;
  readonly body: Markup;
  /** Below the rows, for the words of the axis, in pixels. @default 24 */
  readonly room?: number;
}

/** Rows of what was when, beside their names, above the words of the axis. */
export function drawTimeline({ names, height, told, axis, body, room = 24 }: TimelineFacts): Markup {
  return html`<div class="life"><svg width="104" height="${height + room}" aria-hidden="true">${names.map(
    ({ y, words }) => html`<text class="strong" x="0" y="${y}">${words}</text>`,
  )}</svg>
<svg class="mini" height="${height + room}" role="img" aria-label="${told}">
${axis.draw(height)}
${body}
</svg></div>`;
}

/** The meaning of the marks of a chart, in a line below it. */
export const renderKey = (entries: readonly (Markup | string | false)[]): Markup =>
  html`<p class="key">${entries}</p>`;

/** An entry of a key: a drawing in a box of `size`, and its meaning. */
export const keyEntry = (
  [width, height]: readonly [width: number, height: number],
  shape: Markup,
  words: Markup | string,
): Markup =>
  html`<span><svg width="${width}" height="${height}" aria-hidden="true">${shape}</svg>${words}</span>`;

/** An entry for a bar, as a small square. */
export function swatch(look: BarLook, words: string): Markup {
  const hasEdge = look === "perhaps" || look === "unfinished" || look === "cancelled";
  const box = hasEdge ? html`x="0.5" y="0.5" width="11" height="11"` : html`width="12" height="12"`;
  return keyEntry([12, 12], html`<rect ${BAR_LOOKS[look]} ${box}/>`, words);
}

/** More marks than these blur on a phone. */
const MOST_MARKS = 62;
/** The lengths that a mark may stand for, in days. */
const LENGTHS = [1, 7, 28, 364];

/** The days that one mark of a chart stands for. */
export interface Span extends Days {
  readonly days: number;
  /** It belongs to the period before. */
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

/** The span of a mark: `day`, `week`, or `28 days`. */
export function spanNoun(spans: readonly Span[]): string {
  const longest = Math.max(1, ...spans.map(({ days }) => days));
  return longest === 1 ? "day" : longest <= 7 ? "week" : longest <= 28 ? "28 days" : "year";
}

const MOST_TICKS = 8;

/** As an attribute: `12.34%`. */
export const at = (share: number): string => `${Number(share.toFixed(3))}%`;

/** Places in percent, so that a chart is as wide as its block. */
interface DayAxis {
  /** The place where a day begins. */
  begin(day: number): number;
  middle(days: Days): number;
  /** With some air on both sides. */
  bar(days: Days): Bar;
}

/** The axis from the first to the last of the spans. */
export function dayAxis(spans: readonly Days[]): DayAxis {
  const start = spans[0]?.first ?? 0;
  const days = (spans.at(-1)?.last ?? start) - start + 1;
  const begin = (day: number) => (100 * (day - start)) / days;
  const air = spans.length > 120 ? 0 : 0.16;
  return {
    begin,
    middle: ({ first, last }) => (begin(first) + begin(last + 1)) / 2,
    bar({ first, last }) {
      const width = begin(last + 1) - begin(first);
      return { x: at(begin(first) + width * air), width: at(width * (1 - 2 * air)) };
    },
  };
}

/** The dates below a chart, at height `y`; a phone has every second one. */
function drawDates(spans: readonly Span[], axis: DayAxis, y: number, now: Date): Markup {
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

interface TimeAxis {
  /** A moment as a place from 0 to 100; one that lies outside is at the end. */
  at(ms: number): number;
  /** The same as an attribute. */
  x(ms: number): string;
  /** Lines and words of round moments, over `height` pixels, the words below. */
  draw(height: number): Markup;
}

/** An axis from one moment to another, both in milliseconds. Times are in UTC. */
export function timeAxis(from: number, to: number, now: Date): TimeAxis {
  const scale = scaleUtc().domain([from, to]).range([0, 100]).clamp(true);
  const at = (ms: number): number => scale(ms);
  const x = (ms: number): string => `${at(ms).toFixed(2)}%`;
  return {
    at,
    x,
    draw(height) {
      const all = scale.ticks(8).map(Number);
      const ticks = all.filter((_, place) => place % Math.ceil(all.length / MOST_TIMES) === 0);
      const step = (ticks[1] ?? to) - (ticks[0] ?? from);
      const words = (ms: number) =>
        step >= DAY_MS ? dayWords(ms, now) : step >= MINUTE_MS ? clockWords(ms) : secondWords(ms);
      return html`${ticks.map((ms, place) => {
        const isNear = at(ms) < MARGIN || at(ms) > 100 - MARGIN;
        const text = html`<text class="mid${place % 2 === 1 && " t3"}" x="${x(ms)}" y="${height + 18}">${words(ms)}</text>`;
        return html`${uprightLine(x(ms), height, "grid")}${!isNear && text}`;
      })}`;
    },
  };
}

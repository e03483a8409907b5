import { scaleUtc } from "d3-scale";
import { html, type Markup } from "./html.ts";
import { clockWords, DAY_MS, dayWords, MINUTE_MS, secondWords } from "./marks.ts";
import { type Days, dayName, type Period } from "./period.ts";

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

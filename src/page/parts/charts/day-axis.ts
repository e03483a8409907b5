import { scaleUtc } from "d3-scale";
import { html } from "../html.ts";
import { dayName } from "../period.ts";
import type { Markup } from "../words.ts";
import type { Span } from "./spans.ts";

const DAY_MS = 86_400_000;
const MOST_TICKS = 8;

/** The horizontal place of days in a chart: percentages, so that a chart is as wide as its block. */
export interface DayAxis {
  /** Where a day begins. */
  begin(day: number): number;
  /** The middle of a span. */
  middle(span: Pick<Span, "first" | "last">): number;
  /** The place and width of a bar, with some air on both sides. */
  bar(span: Pick<Span, "first" | "last">): { x: string; width: string };
}

/** As an attribute: `12.34%`. */
export const at = (share: number): string => `${Number(share.toFixed(3))}%`;

/** The axis from the first to the last of the spans. */
export function dayAxis(spans: readonly Pick<Span, "first" | "last">[]): DayAxis {
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

/** The spans that have a date below them. */
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

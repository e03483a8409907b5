import { grouped } from "../../../base/text.ts";
import { html } from "../html.ts";
import { daysName } from "../period.ts";
import type { Markup } from "../words.ts";
import { at, type DayAxis } from "./day-axis.ts";
import type { Span } from "./spans.ts";

export interface MiniBarsFacts {
  readonly spans: readonly Span[];
  readonly axis: DayAxis;
  /** The count of each span. */
  readonly counts: readonly number[];
  /** The largest count a day: as high as the chart. */
  readonly most: number;
  /** In pixels. */
  readonly height: number;
  /** What is shown, for those who do not see it. */
  readonly told: string;
  /** Of the period itself. @default m-bad */
  readonly look?: "m-bad" | "m-ink";
  readonly now: Date;
}

/** Counts as small bars, by their counts a day; the grey half is the period before. */
export function drawMiniBars({
  spans,
  axis,
  counts,
  most,
  height,
  told,
  look = "m-bad",
  now,
}: MiniBarsFacts): Markup {
  const room = height - 3;
  return html`<svg class="mini" height="${height}" role="img" aria-label="${told}">${spans.map(
    (span, place) => {
      const count = counts[place] ?? 0;
      if (count === 0) return "";
      const high = Math.max(1, (room * count) / span.days / Math.max(most, 1e-9));
      const { x, width } = axis.bar(span);
      return html`<g><title>${daysName(span, now)}: ${grouped(count)}</title>
        <rect class="${span.isBefore ? "m-quiet" : look}" x="${x}" width="${width}"
        y="${(height - 1 - high).toFixed(1)}" height="${high.toFixed(1)}"/></g>`;
    },
  )}<line class="base" x1="0" x2="${at(100)}" y1="${height - 0.5}" y2="${height - 0.5}"/></svg>`;
}

/** The counts of each span, from counts by day. */
export function countsBySpan(spans: readonly Span[], byDay: ReadonlyMap<number, number>): number[] {
  return spans.map(({ first, last }) => {
    let sum = 0;
    for (let day = first; day <= last; day++) sum += byDay.get(day) ?? 0;
    return sum;
  });
}

/** The largest count a day of some spans. */
export function mostADay(spans: readonly Span[], counts: readonly number[]): number {
  return Math.max(0, ...spans.map(({ days }, place) => (counts[place] ?? 0) / days));
}

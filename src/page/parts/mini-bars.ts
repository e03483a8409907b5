import { counted, grouped } from "../../base/text.ts";
import { isMore, renderCountChange } from "./changes.ts";
import { at, dayAxis, type Span, spanNoun, spansOf } from "./charts.ts";
import { html, type Markup } from "./html.ts";
import { kindLabel } from "./kinds.ts";
import type { Kind } from "./outcomes.ts";
import { daysName, type Period } from "./period.ts";

interface MiniBarsFacts {
  readonly spans: readonly Span[];
  /** The count of each span. */
  readonly counts: readonly number[];
  /** The largest count a day: as high as the chart. */
  readonly most: number;
  /** In pixels. */
  readonly height: number;
  /** What is shown, for those who do not see it. */
  readonly told: string;
  /** Of the period itself. */
  readonly look: "m-bad" | "m-ink";
  readonly now: Date;
}

/** Counts as small bars, by their counts a day; the grey half is the period before. */
export function drawMiniBars(facts: MiniBarsFacts): Markup {
  const { spans, counts, most, height, told, look, now } = facts;
  const axis = dayAxis(spans);
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
  return spans.map(({ first, last }) =>
    [...byDay].reduce((sum, [day, count]) => (first <= day && day <= last ? sum + count : sum), 0),
  );
}

/** The largest count a day of some spans. */
export const mostADay = (spans: readonly Span[], counts: readonly number[]): number =>
  Math.max(0, ...spans.map(({ days }, place) => (counts[place] ?? 0) / days));

const HEIGHT = 34;

interface KindRowsFacts {
  readonly kinds: readonly Kind[];
  readonly period: Period;
  /** Where the name of a kind leads to. */
  href(kind: string): string;
  /** Below the name: what it means, and its newest build. @default nothing */
  small?(kind: string): Markup | string;
  /** One more column. @default none */
  readonly more?: { readonly head: string; cell(kind: string): Markup | string };
  readonly now: Date;
}

/** Kinds of error with their failures by day on one scale, and against the period before. */
export function renderKindRows(facts: KindRowsFacts): Markup {
  const { kinds, period, href, small, more, now } = facts;
  const spans = spansOf(period);
  const rows = kinds.map((kind) => ({ kind, counts: countsBySpan(spans, kind.byDay) }));
  const most = Math.max(0, ...rows.map(({ counts }) => mostADay(spans, counts)));
  const noun = spanNoun(spans);
  const isKnown = period.before !== null;
  const five = more === undefined ? "" : " five";
  const shown = daysName({ first: period.start, last: period.last }, now);
  return html`<div class="multi-head${five}" aria-hidden="true"><span>Error</span>
    <span>Failed builds ${noun === "day" ? "a day" : `by ${noun}`}, ${shown}; one scale for all</span>
    <span>Builds</span>${more === undefined ? "" : html`<span>${more.head}</span>`}
    <span>${isKnown ? "Change" : ""}</span></div>
<ul class="multi${five}">${rows.map(({ kind, counts }) => {
    const before = isKnown ? `${grouped(kind.before)} before` : "";
    const builds = `${counted(kind.now, "failed build")} on ${daysName(period, now)}`;
    const told = `${kindLabel(kind.name)}: ${builds}${isKnown ? `, ${before}` : ""}`;
    return html`<li><span><a href="${href(kind.name)}">${kindLabel(kind.name)}</a>
      ${small === undefined ? "" : html`<small>${small(kind.name)}</small>`}</span>
      ${drawMiniBars({ spans, counts, most, height: HEIGHT, told, look: isKnown && isMore(kind.now, kind.before) ? "m-bad" : "m-ink", now })}
      <span class="n">${grouped(kind.now)}${isKnown ? html`<small>${before}</small>` : ""}</span>
      ${more === undefined ? "" : html`<span class="n">${more.cell(kind.name)}</span>`}
      <span>${isKnown ? renderCountChange(kind.now, kind.before) : ""}</span></li>
`;
  })}</ul>`;
}

import { counted, grouped } from "../../../base/text.ts";
import { html } from "../html.ts";
import { daysName, type Period } from "../period.ts";
import { kindLabel, type Markup } from "../words.ts";
import { countChange, renderCountChange } from "./count-change.ts";
import { dayAxis } from "./day-axis.ts";
import { countsBySpan, drawMiniBars, mostADay } from "./mini-bars.ts";
import { spanNoun, spansOf } from "./spans.ts";
import type { Kind } from "./trends-facts.ts";

const HEIGHT = 34;

export interface KindRowsFacts {
  readonly kinds: readonly Kind[];
  readonly period: Period;
  /** Where the name of a kind leads to. */
  href(kind: string): string;
  /** Below the name: what it means, and its newest build. @default nothing */
  small?(kind: string): Markup | string;
  /** One more column. @default none */
  readonly more?: { readonly head: string; cell(kind: string): Markup | string };
  /** Whether nothing is red: where the lines of the kinds are shown too, only a line alarms. @default false */
  readonly isPlain?: boolean;
  readonly now: Date;
}

/** Kinds of error with their failures by day on one scale, and against the period before. */
export function renderKindRows({
  kinds,
  period,
  href,
  small,
  more,
  isPlain = false,
  now,
}: KindRowsFacts): Markup {
  const spans = spansOf(period);
  const axis = dayAxis(spans);
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
      ${drawMiniBars({ spans, axis, counts, most, height: HEIGHT, told, look: isPlain ? "m-ink" : "m-bad", now })}
      <span class="n">${grouped(kind.now)}${isKnown ? html`<small>${before}</small>` : ""}</span>
      ${more === undefined ? "" : html`<span class="n">${more.cell(kind.name)}</span>`}
      <span>${isKnown ? renderCountChange(countChange(kind.now, kind.before), isPlain) : ""}</span></li>
`;
  })}</ul>`;
}

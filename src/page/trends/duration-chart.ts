import { scaleLog } from "d3-scale";
import { type Bound, ticksAround } from "../parts/charts/bound-bar.ts";
import { dayAxis, drawDates } from "../parts/charts/day-axis.ts";
import { drawBar, drawPlot, levelLine } from "../parts/charts/plot.ts";
import type { Span } from "../parts/charts/spans.ts";
import { html } from "../parts/html.ts";
import { daysName } from "../parts/period.ts";
import type { Markup } from "../parts/words.ts";
import { durationWords } from "./duration-words.ts";

const [TOP, BOTTOM, HEIGHT] = [8, 150, 176];
/** A percentile of the builds of a span, between two bounds. */
export type BoundSpan = Span & Bound;

/** How long half of the builds took, span by span, on a logarithmic scale: the truth lies within each bar. */
export function drawDurationChart(spans: readonly BoundSpan[], now: Date): Markup {
  const axis = dayAxis(spans);
  const ticks = ticksAround(spans);
  const [floor, ceiling] = [ticks[0]?.s ?? 1, ticks.at(-1)?.s ?? 1];
  const scale = scaleLog([floor, Math.max(ceiling, ...spans.map(({ most }) => most))], [BOTTOM, TOP]);
  const y = (seconds: number) => scale(Math.max(floor, seconds));
  return drawPlot({
    height: HEIGHT,
    told: "How long half of the builds took that are known, between two bounds. The table below has the numbers.",
    labels: ticks.map(({ s, words }) => ({ y: (y(s) + 4).toFixed(1), words })),
    labelsTo: 42,
    body: html`${ticks.map(({ s }) => levelLine(y(s).toFixed(1)))}
${spans.map((span) => {
  const [low, high] = [y(span.least), y(span.most)];
  const surely = BOTTOM - low;
  return html`<g><title>${daysName(span, now)}: half took ${durationWords(span)}</title>
    ${surely < 1 ? "" : drawBar("ink", axis.bar(span), low.toFixed(1), surely)}
    ${drawBar("perhaps", axis.bar(span), high.toFixed(1), Math.max(1.5, low - high))}</g>`;
})}
${levelLine(BOTTOM, "base")}${drawDates(spans, axis, HEIGHT - 4, now)}`,
  });
}

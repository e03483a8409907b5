import { scaleLog } from "d3-scale";
import { dayAxis, drawDates } from "../parts/charts/day-axis.ts";
import { drawBar, drawPlot, levelLine } from "../parts/charts/plot.ts";
import type { Span } from "../parts/charts/spans.ts";
import { html } from "../parts/html.ts";
import { daysName } from "../parts/period.ts";
import type { Markup } from "../parts/words.ts";
import { durationWords } from "./duration-words.ts";

const [TOP, BOTTOM, HEIGHT] = [8, 150, 176];
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
];

/** A percentile that is known between two bounds, in seconds. */
export interface BoundSpan extends Span {
  readonly least: number;
  /** Null where no upper bound is known. */
  readonly most: number | null;
}

/** How long half of the builds took, span by span, on a logarithmic scale: the truth lies within each bar. */
export function drawDurationChart(spans: readonly BoundSpan[], now: Date): Markup {
  const axis = dayAxis(spans);
  const mosts = spans.flatMap(({ most, least }) => [most ?? least]);
  const floor =
    TICKS.findLast(
      ({ s }) => s < Math.min(...spans.map(({ least, most }) => (least > 0 ? least : (most ?? 60)))),
    )?.s ?? 1;
  const ceiling = TICKS.find(({ s }) => s >= Math.max(60, ...mosts))?.s ?? Math.max(...mosts);
  const scale = scaleLog([floor, ceiling], [BOTTOM, TOP]).clamp(true);
  const y = (seconds: number) => scale(Math.max(floor, seconds));
  const ticks = TICKS.filter(({ s }) => s >= floor && s <= ceiling);
  return drawPlot({
    height: HEIGHT,
    told: "How long half of the builds took, between two bounds. The table below has the numbers.",
    labels: ticks.map(({ s, words }) => ({ y: (y(s) + 4).toFixed(1), words })),
    labelsTo: 42,
    body: html`${ticks.map(({ s }) => levelLine(y(s).toFixed(1)))}
${spans.map((span) => {
  const [low, high] = [y(span.least), span.most === null ? TOP : y(span.most)];
  const surely = BOTTOM - low;
  return html`<g><title>${daysName(span, now)}: half took ${durationWords(span.least, span.most)}</title>
    ${surely < 1 ? "" : drawBar("ink", axis.bar(span), low.toFixed(1), surely)}
    ${drawBar("perhaps", axis.bar(span), high.toFixed(1), Math.max(1.5, low - high))}</g>`;
})}
${levelLine(BOTTOM, "base")}${drawDates(spans, axis, HEIGHT - 4, now)}`,
  });
}

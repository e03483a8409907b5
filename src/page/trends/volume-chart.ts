import { scaleLinear } from "d3-scale";
import { grouped } from "../../base/text.ts";
import { at, type DayAxis, drawDates } from "../parts/charts/day-axis.ts";
import { drawBar, drawPlot, levelLine, uprightLine } from "../parts/charts/plot.ts";
import type { SpanOutcomes } from "../parts/charts/trends-facts.ts";
import { html } from "../parts/html.ts";
import { daysName } from "../parts/period.ts";
import type { Markup } from "../parts/words.ts";

const [TOP, BOTTOM] = [6, 100];

/** How many builds a day there were, and what became of them. */
export function drawVolumeChart(
  spans: readonly SpanOutcomes[],
  axis: DayAxis,
  cut: number | null,
  now: Date,
): Markup {
  const known = spans.flatMap(({ outcomes, days }) => (outcomes === null ? [] : [outcomes.builds / days]));
  const scale = scaleLinear([0, Math.max(1, ...known)], [BOTTOM, TOP]);
  const ticks = scale.ticks(3).filter((tick) => Number.isInteger(tick));
  const high = (count: number, days: number) => BOTTOM - scale(count / days);
  const failed = known.length === 0 ? "" : `, up to ${grouped(Math.round(Math.max(...known)))} a day`;
  return drawPlot({
    height: BOTTOM + 4,
    told: `Builds${failed}: succeeded, failed and not finished. The table below has the numbers.`,
    labels: ticks.map((tick) => ({ y: (scale(tick) + 4).toFixed(1), words: grouped(tick) })),
    body: html`${ticks.map((tick) => levelLine(scale(tick).toFixed(1)))}
${spans.map((span) => {
  const { outcomes, days } = span;
  if (outcomes === null) return "";
  const parts = [
    { look: "bad", count: outcomes.failed },
    { look: "good", count: outcomes.succeeded },
    { look: "unfinished", count: outcomes.unfinished },
  ] as const;
  let from = BOTTOM;
  const rects = parts.map(({ look, count }) => {
    if (count === 0) return "";
    const height = high(count, days);
    from -= height;
    return drawBar(look, axis.bar(span), from.toFixed(1), Math.max(0.5, height - 0.8));
  });
  const { succeeded, failed, unfinished } = outcomes;
  return drawSpan(
    span,
    `${grouped(succeeded)} succeeded, ${grouped(failed)} failed, ${grouped(unfinished)} not finished`,
    rects,
    now,
  );
})}
${drawCut(cut, BOTTOM)}${levelLine(BOTTOM, "base")}`,
  });
}

/** What broke, above the line, and what was fixed, below it. */
export function drawTurnsChart(
  spans: readonly SpanOutcomes[],
  counts: { readonly broke: readonly number[]; readonly fixed: readonly number[] },
  axis: DayAxis,
  cut: number | null,
  now: Date,
): Markup {
  const perDay = (list: readonly number[]) => spans.map(({ days }, place) => (list[place] ?? 0) / days);
  const most = Math.max(1, ...perDay(counts.broke), ...perDay(counts.fixed));
  const middle = 48;
  const scale = scaleLinear([0, most], [0, middle - 8]);
  const ticks = scale.ticks(2).filter((tick) => tick > 0 && Number.isInteger(tick));
  const height = 2 * middle + 24;
  const places = ticks.flatMap((tick) =>
    [middle - scale(tick), middle + scale(tick)].map((y) => ({ tick, y })),
  );
  return drawPlot({
    height,
    told: "What broke, upwards, and what was fixed, downwards. The table below has the numbers.",
    labels: [
      ...places.map(({ tick, y }) => ({ y: (y + 4).toFixed(1), words: grouped(tick) })),
      { y: middle + 4, words: "0" },
    ],
    body: html`${places.map(({ y }) => levelLine(y.toFixed(1)))}
${spans.map((span, place) => {
  const [broke, fixed] = [counts.broke[place] ?? 0, counts.fixed[place] ?? 0];
  if (broke + fixed === 0) return "";
  const [up, down] = [scale(broke / span.days), scale(fixed / span.days)];
  const bars = [
    broke === 0 ? "" : drawBar("bad", axis.bar(span), (middle - up).toFixed(1), up),
    fixed === 0 ? "" : drawBar("good", axis.bar(span), middle, down),
  ];
  return drawSpan(span, `${grouped(broke)} broke, ${grouped(fixed)} fixed`, bars, now);
})}
${drawCut(cut, 2 * middle)}${levelLine(middle, "base")}${drawDates(spans, axis, height - 4, now)}`,
  });
}

/** The bars of a span, with what they mean under the mouse. */
function drawSpan(span: SpanOutcomes, words: string, bars: readonly (Markup | string)[], now: Date): Markup {
  const kind = span.isBefore ? html` class="before"` : "";
  return html`<g${kind}><title>${daysName(span, now)}: ${words}</title>${bars}</g>`;
}

function drawCut(cut: number | null, height: number): Markup | string {
  return cut === null ? "" : uprightLine(at(cut), height);
}

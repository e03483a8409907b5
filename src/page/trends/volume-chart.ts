import { scaleLinear } from "d3-scale";
import { at, type DayAxis, drawDates } from "../parts/charts/day-axis.ts";
import type { SpanOutcomes } from "../parts/charts/trends-facts.ts";
import { html } from "../parts/html.ts";
import { daysName } from "../parts/period.ts";
import { grouped, type Markup } from "../parts/words.ts";

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
  return html`<div class="chart"><svg width="48" height="${BOTTOM + 4}" aria-hidden="true">${ticks.map((tick) => html`<text class="end" x="40" y="${(scale(tick) + 4).toFixed(1)}">${grouped(tick)}</text>`)}</svg><svg class="plot" role="img" height="${BOTTOM + 4}" aria-label="Builds${failed}: succeeded, failed and not finished. The table below has the numbers.">
${ticks.map((tick) => html`<line class="grid" x1="0" x2="100%" y1="${scale(tick).toFixed(1)}" y2="${scale(tick).toFixed(1)}"/>`)}
${spans.map((span) => {
  const { outcomes, days, isBefore } = span;
  if (outcomes === null) return "";
  const { x, width } = axis.bar(span);
  const parts = [
    { kind: html`fill="url(#hatch-bad)"`, count: outcomes.failed },
    { kind: html`class="m-good"`, count: outcomes.succeeded },
    { kind: html`fill="url(#dots)" class="m-edge"`, count: outcomes.unfinished },
  ];
  let from = BOTTOM;
  const rects = parts.map(({ kind, count }) => {
    if (count === 0) return "";
    const height = high(count, days);
    from -= height;
    return html`<rect ${kind} x="${x}" width="${width}" y="${from.toFixed(1)}" height="${Math.max(0.5, height - 0.8).toFixed(1)}"/>`;
  });
  return html`<g${isBefore ? html` class="before"` : ""}><title>${daysName(span, now)}: ${grouped(outcomes.succeeded)} succeeded, ${grouped(outcomes.failed)} failed, ${grouped(outcomes.unfinished)} not finished</title>${rects}</g>`;
})}
${drawCut(cut, BOTTOM)}<line class="base" x1="0" x2="100%" y1="${BOTTOM}" y2="${BOTTOM}"/>
</svg></div>`;
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
  return html`<div class="chart"><svg width="48" height="${height}" aria-hidden="true">${ticks.map((tick) => html`<text class="end" x="40" y="${(middle - scale(tick) + 4).toFixed(1)}">${grouped(tick)}</text><text class="end" x="40" y="${(middle + scale(tick) + 4).toFixed(1)}">${grouped(tick)}</text>`)}<text class="end" x="40" y="${middle + 4}">0</text></svg><svg class="plot" role="img" height="${height}" aria-label="What broke, upwards, and what was fixed, downwards. The table below has the numbers.">
${ticks.map((tick) => html`<line class="grid" x1="0" x2="100%" y1="${(middle - scale(tick)).toFixed(1)}" y2="${(middle - scale(tick)).toFixed(1)}"/><line class="grid" x1="0" x2="100%" y1="${(middle + scale(tick)).toFixed(1)}" y2="${(middle + scale(tick)).toFixed(1)}"/>`)}
${spans.map((span, place) => {
  const [broke, fixed] = [counts.broke[place] ?? 0, counts.fixed[place] ?? 0];
  if (broke + fixed === 0) return "";
  const { x, width } = axis.bar(span);
  const [up, down] = [scale(broke / span.days), scale(fixed / span.days)];
  return html`<g${span.isBefore ? html` class="before"` : ""}><title>${daysName(span, now)}: ${grouped(broke)} broke, ${grouped(fixed)} fixed</title>${broke === 0 ? "" : html`<rect fill="url(#hatch-bad)" x="${x}" width="${width}" y="${(middle - up).toFixed(1)}" height="${up.toFixed(1)}"/>`}${fixed === 0 ? "" : html`<rect class="m-good" x="${x}" width="${width}" y="${middle}" height="${down.toFixed(1)}"/>`}</g>`;
})}
${drawCut(cut, 2 * middle)}<line class="base" x1="0" x2="100%" y1="${middle}" y2="${middle}"/>${drawDates(spans, axis, height - 4, now)}
</svg></div>`;
}

function drawCut(cut: number | null, height: number): Markup | string {
  return cut === null ? "" : html`<line class="cut" x1="${at(cut)}" x2="${at(cut)}" y1="0" y2="${height}"/>`;
}

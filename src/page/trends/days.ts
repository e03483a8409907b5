import { scaleLinear } from "d3-scale";
import { counted, grouped } from "../../base/text.ts";
import { wilsonInterval } from "../../report/wilson-interval.ts";
import { block } from "../parts/block.ts";
import {
  at,
  type DayAxis,
  dayAxis,
  drawBar,
  drawDates,
  drawPlot,
  keyEntry,
  levelLine,
  renderKey,
  spanNoun,
  swatch,
  uprightLine,
} from "../parts/charts.ts";
import { html, type Markup, percent, wholePercent } from "../parts/html.ts";
import { countsBySpan } from "../parts/mini-bars.ts";
import {
  byDay,
  isSurelyLower,
  NO_BUILDS,
  type Outcomes,
  outcomesBySpan,
  outcomesOf,
  type SpanOutcomes,
} from "../parts/outcomes.ts";
import { daysName } from "../parts/period.ts";
import { headCell, numberCell, renderFoldTable } from "../parts/tables.ts";
import { brokenWords } from "./compare.ts";
import { askForDays, CHOSEN, type TrendsScope } from "./trends-scope.ts";

/** Rate, volume, and what broke and was fixed, day by day or in longer spans; the same as a table, folded. */
export const days = block({
  id: "days",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({ rows: askForDays(scope) }),
  draw({ rows: known }, { period, type, now }) {
    const spans = outcomesBySpan(known, period);
    const whole = outcomesOf(known, period) ?? NO_BUILDS;
    const before = outcomesOf(known, period.before);
    const [broke, fixed, broken] = [byDay(known, "broke"), byDay(known, "fixed"), brokenWords(type)];
    const axis = dayAxis(spans);
    const cut = period.before === null ? null : axis.begin(period.first);
    const counts = { broke: countsBySpan(spans, broke), fixed: countsBySpan(spans, fixed) };
    const noun = spanNoun(spans);
    const floor = rateFloor(spans);
    const rows = spans.map((span, place) =>
      renderRow(span, counts.broke[place] ?? 0, counts.fixed[place] ?? 0, now),
    );
    const note = [
      period.before === null
        ? "The mirror does not know all of the days before, so they are not here."
        : "The period before is paler, left of the line.",
      noun === "day"
        ? ""
        : `Each mark is ${noun === "28 days" ? "28 days" : `a ${noun}`}, so that they do not run together.`,
    ];
    const few = spans.length < 8 ? " few" : "";
    return {
      title: noun === "day" ? "By day" : noun === "28 days" ? "By 28 days" : `By ${noun}`,
      note: note.join(" ").trim(),
      body: html`<div class="charts${few}"><h3 class="sub">Share of finished builds that succeeded</h3>
${drawRateChart({ spans, axis, cut, whole, before, now })}
<h3 class="sub">Builds${noun === "day" ? "" : " a day"}</h3>
${drawVolumeChart(spans, axis, cut, now)}
<h3 class="sub">${broken}, upwards, and that were fixed, downwards${noun === "day" ? "" : ", a day"}</h3>
${drawTurnsChart(spans, counts, axis, cut, now)}</div>
${renderDaysKey(noun === "28 days" ? "span" : noun, floor)}
${renderFoldTable(
  [
    headCell(noun === "day" ? "Day" : "Days"),
    ...["Succeeded", "Failed", "Not finished", "Rate", "95 % interval", "Broke", "Fixed"].map((head) =>
      headCell(head, "num"),
    ),
  ],
  html`
${rows.reverse().map(
  (row) => html`${row}
`,
)}`,
)}`,
    };
  },
});

function renderDaysKey(noun: string, floor: number): Markup {
  return renderKey([
    keyEntry(
      [26, 14],
      html`<line class="ci" x1="13" x2="13" y1="0" y2="14"/><circle class="dot" cx="13" cy="7" r="4"/>`,
      html`a ${noun} with its 95&nbsp;% interval`,
    ),
    keyEntry(
      [16, 16],
      html`<path class="dot low" d="M8 1.5L14.5 8 8 14.5 1.5 8z"/>`,
      "lower than chance allows",
    ),
    keyEntry([22, 10], html`<line class="mean" x1="0" x2="22" y1="5" y2="5"/>`, "the period as a whole"),
    swatch("good", "succeeded, fixed"),
    swatch("bad", "failed, broke"),
    swatch("unfinished", "not finished"),
    floor === 0 ? "" : html`<span>The axis of the rate begins at ${wholePercent(floor)}.</span>`,
  ]);
}

function renderRow(span: SpanOutcomes, broke: number, fixed: number, now: Date): Markup {
  const { outcomes } = span;
  const name = daysName(span, now);
  if (outcomes === null)
    return html`<tr><th scope="row">${name}</th><td colspan="7">not known: no sync has covered it</td></tr>`;
  const { succeeded, failed, unfinished, finished, isComplete } = outcomes;
  const interval = wilsonInterval(succeeded, finished);
  const words =
    interval === null
      ? ["–", "–"]
      : [percent(succeeded / finished), `${wholePercent(interval.low)} – ${wholePercent(interval.high)}`];
  const counts = [succeeded, failed, unfinished].map(grouped);
  const quiet = isComplete ? "" : html` <small class="quiet">not complete</small>`;
  return html`<tr><th scope="row">${name}${quiet}</th>
    ${[...counts, ...words, grouped(broke), grouped(fixed)].map(numberCell)}</tr>`;
}

const [TOP, BOTTOM, HEIGHT] = [24, 186, 204];

interface RateChartFacts {
  readonly spans: readonly SpanOutcomes[];
  readonly axis: DayAxis;
  /** Where the period begins, in percent; null where there is none before. */
  readonly cut: number | null;
  readonly whole: Outcomes;
  readonly before: Outcomes | null;
  readonly now: Date;
}

/** The first rate of the axis: a whole tenth below everything that is drawn. */
export function rateFloor(spans: readonly SpanOutcomes[]): number {
  const lows = spans.flatMap(({ outcomes }) =>
    outcomes === null ? [] : (wilsonInterval(outcomes.succeeded, outcomes.finished)?.low ?? []),
  );
  return Math.min(0.9, Math.max(0, Math.floor(Math.min(1, ...lows) * 10) / 10));
}

/** The share that succeeded, span by span, each with its interval; a diamond marks what is lower than chance allows. */
export function drawRateChart(facts: RateChartFacts): Markup {
  const { spans, cut, whole, before, now } = facts;
  const floor = rateFloor(spans);
  const scale = scaleLinear([floor, 1], [BOTTOM, TOP]);
  const y = (rate: number) => Number(scale(rate).toFixed(1));
  const ticks = scale.ticks(floor > 0.55 ? 4 : 5);
  const points = pointsOf(facts);
  const worst = points.filter(({ isLow }) => isLow).toSorted((a, b) => a.rate - b.rate)[0];
  const isMany = spans.length > 40;
  const mean = ({ succeeded, finished }: Outcomes) => (finished === 0 ? null : succeeded / finished);
  const [rate, rateBefore] = [mean(whole), before === null ? null : mean(before)];
  const level = (share: number | null, from: number, to: number, kind: string) =>
    share === null
      ? ""
      : html`<line class="mean${kind}" x1="${at(from)}" x2="${at(to)}" y1="${y(share)}" y2="${y(share)}"/>`;
  return drawPlot({
    height: HEIGHT,
    told: tell(points, worst, now),
    labels: ticks.map((tick) => ({ y: y(tick) + 4, words: wholePercent(tick) })),
    body: html`${levelLine(BOTTOM, "base")}${ticks.filter((tick) => tick > floor).map((tick) => levelLine(y(tick)))}
${drawCut(cut, BOTTOM)}
${points.map(({ span, x, low, high }) => {
  const kind = `ci${isMany ? " thin" : ""}${span.isBefore ? " before" : ""}`;
  return html`<line class="${kind}" x1="${at(x)}" x2="${at(x)}" y1="${y(high)}" y2="${y(low)}"/>`;
})}
${level(rateBefore, 0, cut ?? 0, " before")}${level(rate, cut ?? 0, 100, "")}
${points.slice(1).map((to, place) => {
  const from = points[place];
  if (from === undefined || from.span.last + 1 !== to.span.first) return "";
  return html`<line class="trace${to.span.isBefore ? " before" : ""}" x1="${at(from.x)}" y1="${y(from.rate)}" x2="${at(to.x)}" y2="${y(to.rate)}"/>`;
})}
${points.map(({ span, x, rate, low, high, isLow, outcomes }) => {
  const title = html`<title>${daysName(span, now)}: ${percent(rate)} of ${counted(outcomes.finished, "build")}
    (${wholePercent(low)} to ${wholePercent(high)})${isLow ? ", lower than chance allows" : ""}</title>`;
  return isLow
    ? html`<svg x="${at(x)}" y="${y(rate)}" overflow="visible">${title}<path class="dot low" d="M0-6.5L6.5 0 0 6.5-6.5 0z"/></svg>`
    : html`<g>${title}<circle class="dot${span.isBefore ? " before" : ""}" cx="${at(x)}" cy="${y(rate)}" r="${isMany ? 2.5 : 4}"/></g>`;
})}
${rateBefore === null ? "" : html`<text class="strong" x="0.5%" y="14">${percent(rateBefore)} <tspan>before</tspan></text>`}
  ${rate === null ? "" : html`<text class="strong" x="${at(cut ?? 0)}" dx="6" y="14">${percent(rate)}</text>`}
${worst === undefined ? "" : nameWorst(worst, y(worst.low))}`,
  });
}

function nameWorst({ x, rate }: Point, low: number): Markup {
  const side = x < 6 ? "" : x > 94 ? "end" : "mid";
  const y = Math.min(HEIGHT - 3, low + 15);
  return html`<text class="strong ${side}" x="${at(x)}" y="${y}">${wholePercent(rate)}</text>`;
}

/** The rates of the spans with their intervals, and whether each is lower than the rest of its period by more than chance. */
function pointsOf({ spans, axis, whole, before }: RateChartFacts) {
  return spans.flatMap((span) => {
    const { outcomes } = span;
    const interval = outcomes === null ? null : wilsonInterval(outcomes.succeeded, outcomes.finished);
    if (outcomes === null || interval === null) return [];
    const period = span.isBefore ? before : whole;
    const rate = outcomes.succeeded / outcomes.finished;
    const isLow = period !== null && isSurelyLower(outcomes, period);
    return { span, x: axis.middle(span), outcomes, rate, ...interval, isLow };
  });
}

type Point = ReturnType<typeof pointsOf>[number];

function tell(points: readonly Point[], worst: Point | undefined, now: Date): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return "Success rate: no build has finished.";
  const rates = points.map(({ rate }) => rate);
  const range = `between ${wholePercent(Math.min(...rates))} and ${wholePercent(Math.max(...rates))}`;
  const low =
    worst === undefined
      ? ""
      : `, lower than chance allows on ${daysName(worst.span, now)}: ${wholePercent(worst.rate)}`;
  return `Success rate, ${daysName({ first: first.span.first, last: last.span.last }, now)}, ${range}${low}. The table below has the numbers.`;
}

const [VOLUME_TOP, VOLUME_BASE] = [6, 100];

/** How many builds a day there were, and what became of them. */
export function drawVolumeChart(
  spans: readonly SpanOutcomes[],
  axis: DayAxis,
  cut: number | null,
  now: Date,
): Markup {
  const known = spans.flatMap(({ outcomes, days }) => (outcomes === null ? [] : [outcomes.builds / days]));
  const scale = scaleLinear([0, Math.max(1, ...known)], [VOLUME_BASE, VOLUME_TOP]);
  const ticks = scale.ticks(3).filter((tick) => Number.isInteger(tick));
  const high = (count: number, days: number) => VOLUME_BASE - scale(count / days);
  const failed = known.length === 0 ? "" : `, up to ${grouped(Math.round(Math.max(...known)))} a day`;
  return drawPlot({
    height: VOLUME_BASE + 4,
    told: `Builds${failed}: succeeded, failed and not finished. The table below has the numbers.`,
    labels: ticks.map((tick) => ({ y: (scale(tick) + 4).toFixed(1), words: grouped(tick) })),
    body: html`${ticks.map((tick) => levelLine(scale(tick).toFixed(1)))}
${spans.map((span) => {
  const { outcomes, days } = span;
  if (outcomes === null) return "";
  const parts = [
    ["bad", outcomes.failed],
    ["good", outcomes.succeeded],
    ["unfinished", outcomes.unfinished],
  ] as const;
  let from = VOLUME_BASE;
  const rects = parts.map(([look, count]) => {
    if (count === 0) return "";
    const height = high(count, days);
    from -= height;
    return drawBar(look, axis.bar(span), from.toFixed(1), Math.max(0.5, height - 0.8));
  });
  const [succeeded, failed, unfinished] = [outcomes.succeeded, outcomes.failed, outcomes.unfinished].map(
    grouped,
  );
  return drawSpan(span, `${succeeded} succeeded, ${failed} failed, ${unfinished} not finished`, rects, now);
})}
${drawCut(cut, VOLUME_BASE)}${levelLine(VOLUME_BASE, "base")}`,
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

function drawSpan(span: SpanOutcomes, words: string, bars: readonly (Markup | string)[], now: Date): Markup {
  const kind = span.isBefore ? html` class="before"` : "";
  return html`<g${kind}><title>${daysName(span, now)}: ${words}</title>${bars}</g>`;
}

function drawCut(cut: number | null, height: number): Markup | string {
  return cut === null ? "" : uprightLine(at(cut), height);
}

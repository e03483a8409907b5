import { scaleLinear } from "d3-scale";
import { counted, grouped } from "../../base/text.ts";
import { sumIn } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import {
  intervalWords,
  isSurelyLower,
  NO_BUILDS,
  type Outcomes,
  outcomesBySpan,
  outcomesOf,
  rateOf,
  type SpanOutcomes,
  shareWords,
} from "../parts/changes.ts";
import {
  at,
  type BarLook,
  dayAxis,
  drawBars,
  drawCut,
  drawPlot,
  keyEntry,
  levelLine,
  notZero,
  renderCharts,
  renderKey,
  spanNoun,
  swatch,
} from "../parts/charts.ts";
import { html, type Markup, percent, wholePercent } from "../parts/html.ts";
import { daysName } from "../parts/period.ts";
import { type Column, numberColumn, renderFoldTable } from "../parts/tables.ts";
import { askForDays, type TrendsScope } from "./trends-scope.ts";

/** All three charts are drawn from this. */
interface DaysFacts {
  readonly spans: readonly DaysSpan[];
  readonly whole: Outcomes;
  readonly before: Outcomes | null;
  /** The place where the period begins, in percent; null where there is none before. */
  readonly cut: number | null;
  readonly now: Date;
}

interface DaysSpan extends SpanOutcomes {
  readonly broke: number;
  readonly fixed: number;
}

/** Rate, volume, and what broke and was fixed, day by day or in longer spans; the same as a table, folded. */
export const days = block({
  id: "days",
  asks: (scope: TrendsScope) => ({ rows: askForDays(scope) }),
  draw({ rows: known }, { period, now }) {
    const spans = outcomesBySpan(known, period).map(({ rows, ...span }) => ({
      ...span,
      broke: sumIn(rows, "broke"),
      fixed: sumIn(rows, "fixed"),
    }));
    const facts: DaysFacts = {
      spans,
      whole: outcomesOf(known, period) ?? NO_BUILDS,
      before: outcomesOf(known, period.before),
      cut: period.before && dayAxis(spans).begin(period.first),
      now,
    };
    const noun = spanNoun(spans);
    const isByDay = noun === "day";
    const a = noun === "28 days" ? noun : `a ${noun}`;
    const floor = rateFloor(spans);
    const columns: Column<DaysSpan>[] = [
      { head: isByDay ? "Day" : "Days", cell: (span) => nameOf(span, now) },
      ofOutcome("Succeeded", "succeeded"),
      ofOutcome("Failed", "failed"),
      ofOutcome("Not finished", "unfinished"),
      ofOutcome("Cancelled", "cancelled"),
      numberColumn("Rate", ({ outcomes }) => shareWords(outcomes)),
      numberColumn("95 % interval", ({ outcomes }) => {
        const rate = rateOf(outcomes);
        return rate && intervalWords(rate, " – ");
      }),
      numberColumn("Broke", ({ broke }) => broke),
      numberColumn("Fixed", ({ fixed }) => fixed),
    ];
    return {
      title: `By ${noun}`,
      note: `${
        period.before === null
          ? "The mirror does not know all of the days before, so they are not here."
          : "The period before is paler, left of the line."
      }${isByDay ? "" : ` Each mark is ${a}, so that they do not run together.`}`,
      body: html`${renderCharts(
        spans,
        html`<h3 class="sub">Share of finished builds that succeeded${floor > 0 && `; the axis begins at ${wholePercent(floor)}`}</h3>
${drawRate(facts)}
<h3 class="sub">Builds${!isByDay && " a day"}</h3>
${drawVolume(facts)}
<h3 class="sub">Versions and formats that broke, upwards, and that were fixed, downwards${!isByDay && ", a day"}</h3>
${drawTurns(facts)}`,
      )}
${renderDaysKey(noun === "28 days" ? "span" : noun)}
${renderFoldTable({
  columns,
  rows: spans.toReversed(),
  gap: ({ outcomes }) => outcomes === null && "not known: no sync has covered it",
})}`,
    };
  },
});

/** Of a span that no sync has covered nothing is shown. */
const ofOutcome = (head: string, outcome: "succeeded" | "failed" | "unfinished" | "cancelled") =>
  numberColumn<DaysSpan>(head, ({ outcomes }) => outcomes?.[outcome] ?? null);

const nameOf = (span: DaysSpan, now: Date): Markup =>
  html`${daysName(span, now)}${span.outcomes?.isComplete === false && html` <small class="quiet">not complete</small>`}`;

const renderDaysKey = (noun: string): Markup =>
  renderKey([
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
    swatch("cancelled", "cancelled"),
  ]);

/** The first rate of the axis: a whole tenth below everything that is drawn. */
function rateFloor(spans: readonly DaysSpan[]): number {
  const lows = spans.map(({ outcomes }) => rateOf(outcomes)?.low ?? 1);
  return Math.min(0.9, Math.floor(Math.min(...lows) * 10) / 10);
}

const [TOP, BOTTOM, HEIGHT] = [24, 186, 204];

/** The share that succeeded, span by span, each with its interval; a diamond marks one that is lower than chance allows. */
function drawRate(facts: DaysFacts): Markup {
  const { spans, cut, whole, before, now } = facts;
  const floor = rateFloor(spans);
  const scale = scaleLinear([floor, 1], [BOTTOM, TOP]);
  const y = (share: number) => Number(scale(share).toFixed(1));
  const ticks = scale.ticks(floor > 0.55 ? 4 : 5);
  const points = pointsOf(facts);
  const [worst] = points.filter(({ isLow }) => isLow).toSorted((a, b) => a.share - b.share);
  const isMany = spans.length > 40;
  const [rate, rateBefore] = [rateOf(whole), rateOf(before)];
  const mean = (share: number | undefined, from: number, to: number, kind: string) =>
    share !== undefined &&
    html`<line class="mean${kind}" x1="${at(from)}" x2="${at(to)}" y1="${y(share)}" y2="${y(share)}"/>`;
  return drawPlot({
    height: HEIGHT,
    told: tell(points, worst, now),
    labels: [
      ...ticks.map((tick) => ({ y: y(tick), words: wholePercent(tick) })),
      ...(floor > 0 ? [notZero(BOTTOM)] : []),
    ],
    body: html`${levelLine(BOTTOM, "base")}${ticks.map((tick) => tick > floor && levelLine(y(tick)))}
${drawCut(cut, BOTTOM)}
${points.map(
  ({ isBefore, x, low, high }) =>
    html`<line class="ci${isMany && " thin"}${isBefore && " before"}" x1="${at(x)}" x2="${at(x)}" y1="${y(high)}" y2="${y(low)}"/>`,
)}
${mean(rateBefore?.share, 0, cut ?? 0, " before")}${mean(rate?.share, cut ?? 0, 100, "")}
${points.slice(1).map((to, place) => {
  const from = points[place] ?? to;
  return (
    from.last + 1 === to.first &&
    html`<line class="trace${to.isBefore && " before"}" x1="${at(from.x)}" y1="${y(from.share)}" x2="${at(to.x)}" y2="${y(to.share)}"/>`
  );
})}
${points.map((point) => {
  const { isBefore, x, share, isLow, finished } = point;
  const title = html`<title>${daysName(point, now)}: ${percent(share)} of ${counted(finished, "build")}
    (${intervalWords(point)})${isLow && ", lower than chance allows"}</title>`;
  return isLow
    ? html`<svg x="${at(x)}" y="${y(share)}" overflow="visible">${title}<path class="dot low" d="M0-6.5L6.5 0 0 6.5-6.5 0z"/></svg>`
    : html`<g>${title}<circle class="dot${isBefore && " before"}" cx="${at(x)}" cy="${y(share)}" r="${isMany ? 2.5 : 4}"/></g>`;
})}
${rateBefore && html`<text class="strong" x="0.5%" y="14">${percent(rateBefore.share)} <tspan>before</tspan></text>`}
  ${rate && html`<text class="strong" x="${at(cut ?? 0)}" dx="6" y="14">${percent(rate.share)}</text>`}
${worst && nameWorst(worst, y(worst.low))}`,
  });
}

function nameWorst({ x, share }: Point, low: number): Markup {
  const side = x < 6 ? "" : x > 94 ? "end" : "mid";
  return html`<text class="strong ${side}" x="${at(x)}" y="${Math.min(HEIGHT - 3, low + 15)}">${wholePercent(share)}</text>`;
}

/** The rate of a span with its interval, as a point of the chart. */
interface Point extends SpanOutcomes {
  readonly x: number;
  readonly finished: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  /** Lower than the rest of its period, by more than chance. */
  readonly isLow: boolean;
}

function pointsOf({ spans, whole, before }: DaysFacts): Point[] {
  const axis = dayAxis(spans);
  return spans.flatMap((span) => {
    const { outcomes } = span;
    const rate = rateOf(outcomes);
    if (outcomes === null || rate === null) return [];
    const period = span.isBefore ? before : whole;
    const isLow = period !== null && isSurelyLower(outcomes, period);
    return [{ ...span, x: axis.middle(span), finished: outcomes.finished, ...rate, isLow }];
  });
}

function tell(points: readonly Point[], worst: Point | undefined, now: Date): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return "Success rate: no build has finished.";
  const shares = points.map(({ share }) => share);
  const low =
    worst === undefined
      ? ""
      : `, lower than chance allows on ${daysName(worst, now)}: ${wholePercent(worst.share)}`;
  const range = `between ${wholePercent(Math.min(...shares))} and ${wholePercent(Math.max(...shares))}`;
  return `Success rate, ${daysName({ first: first.first, last: last.last }, now)}, ${range}${low}. The table below has the numbers.`;
}

const [VOLUME_TOP, VOLUME_BASE] = [6, 100];

/** The builds of each day by their outcomes. */
function drawVolume({ spans, cut, now }: DaysFacts): Markup {
  const known = spans.flatMap(({ outcomes, days }) => (outcomes === null ? [] : outcomes.builds / days));
  const scale = scaleLinear([0, Math.max(1, ...known)], [VOLUME_BASE, VOLUME_TOP]);
  const most = known.length === 0 ? "" : `, up to ${grouped(Math.round(Math.max(...known)))} a day`;
  return drawBars({
    height: VOLUME_BASE + 4,
    told: `Builds${most}: succeeded, failed, not finished and cancelled. The table below has the numbers.`,
    ticks: wholeTicks(scale.ticks(3)).map((tick) => ({ y: scale(tick), words: grouped(tick) })),
    spans,
    bars({ outcomes, days }) {
      if (outcomes === null) return null;
      const { succeeded, failed, unfinished, cancelled } = outcomes;
      const also = cancelled > 0 ? `, ${grouped(cancelled)} cancelled` : "";
      let y = VOLUME_BASE;
      const bar = (look: BarLook, count: number) => {
        const height = VOLUME_BASE - scale(count / days);
        y -= height;
        return [look, y, count === 0 ? 0 : Math.max(0.5, height - 0.8)] as const;
      };
      return [
        `${grouped(succeeded)} succeeded, ${grouped(failed)} failed, ${grouped(unfinished)} not finished${also}`,
        bar("bad", failed),
        bar("good", succeeded),
        bar("unfinished", unfinished),
        bar("cancelled", cancelled),
      ];
    },
    base: VOLUME_BASE,
    cut: [cut, VOLUME_BASE],
    now,
  });
}

const wholeTicks = (ticks: readonly number[]): number[] => ticks.filter(Number.isInteger);

/** The breaks above the line, and the fixes below it. */
function drawTurns({ spans, cut, now }: DaysFacts): Markup {
  const most = Math.max(1, ...spans.flatMap(({ broke, fixed, days }) => [broke / days, fixed / days]));
  const middle = 48;
  const scale = scaleLinear([0, most], [0, middle - 8]);
  const ticks = wholeTicks(scale.ticks(2)).filter((tick) => tick > 0);
  return drawBars({
    height: 2 * middle + 24,
    told: "What broke, upwards, and what was fixed, downwards. The table below has the numbers.",
    ticks: ticks.flatMap((tick) =>
      [-1, 1].map((way) => ({ y: middle + way * scale(tick), words: grouped(tick) })),
    ),
    labels: [{ y: middle, words: "0" }],
    spans,
    bars({ broke, fixed, days }) {
      if (broke + fixed === 0) return null;
      const [up, down] = [scale(broke / days), scale(fixed / days)];
      return [
        `${grouped(broke)} broke, ${grouped(fixed)} fixed`,
        ["bad", middle - up, up],
        ["good", middle, down],
      ];
    },
    base: middle,
    cut: [cut, 2 * middle],
    hasDates: true,
    now,
  });
}

/** Lengths of time, each between two bounds: how long builds take, wait and work; and how many are open at once. */
import { counted, grouped } from "../../base/text.ts";
import { countIn, sumIn } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import {
  type Bound,
  type BoundRow,
  boundList,
  boundWords,
  KNOWN_WITHIN,
  renderBoundKey,
  type TimedBuild,
  timedRows,
  timesAxis,
  unknownTimes,
} from "../parts/bounds.ts";
import { drawBars, notZero, renderCharts, renderKey, type Span, spansOf, swatch } from "../parts/charts.ts";
import { html, type Markup, percent } from "../parts/html.ts";
import { dayNumber, daysName, rowsIn } from "../parts/period.ts";
import { renderFoldTable } from "../parts/tables.ts";
import { lateOf, type TrendsScope, trendsQuestion } from "./trends-scope.ts";

/** Builds of fewer days are shown one by one. */
const FEWEST_DAYS = 3;

/** The number of builds that finished, and of those whose time is known. */
interface KnownRow {
  readonly finished: number;
  readonly known: number;
}

/** Percentiles of times, in seconds, each by its two bounds. */
type Percentiles<Name extends string> = { readonly [Bound in `${Name}_${"least" | "most"}`]: number };

const boundOf = <Name extends string>(row: Percentiles<Name>, name: Name): Bound => ({
  least: row[`${name}_least` as const],
  most: row[`${name}_most` as const],
});

/** The durations of one day, or of all of them; bounds are null where no time is known. */
interface TookRow extends KnownRow, Percentiles<"took_p50" | "took_p90"> {
  readonly day: string | null;
}

const DURATIONS = trendsQuestion<TookRow>("durations");
const TIMED_BUILDS = trendsQuestion<TimedBuild>("timed_builds");

/** The durations of builds, day by day, or of each build where those are few. */
export const durations = block({
  id: "durations",
  asks: (scope: TrendsScope) => ({ rows: DURATIONS(scope), timed: TIMED_BUILDS(scope) }),
  draw({ rows, timed }, { period, now }) {
    const whole = rows.find(({ day }) => day === null);
    const days = rows.flatMap((row) => (row.day === null || row.known === 0 ? [] : toTookSpan(row, row.day)));
    return {
      title: "How long builds take",
      count: daysName(lateOf(period), now),
      note: "From the trigger to the finish. The truth lies between two bounds.",
      ...(whole && whole.known > 0
        ? {
            body: html`<p class="took">${quantileWords(whole)}</p>
${renderKnown(whole)}
${days.length < FEWEST_DAYS ? renderTimed(timed, whole.known) : renderTimesByDay(days, now)}`,
          }
        : { empty: unknownTimes(whole?.finished ?? 0, "of these days") }),
    };
  },
});

function quantileWords(whole: TookRow): Markup {
  const half = boundWords(boundOf(whole, "took_p50"));
  return whole.known === 1
    ? html`The one build that is known took <b>${half}</b>.`
    : html`Half of the builds whose times are known took <b>${half}</b>, nine of ten <b>${boundWords(boundOf(whole, "took_p90"))}</b>.`;
}

const renderTimed = (timed: readonly TimedBuild[], known: number): Markup =>
  html`<h3 class="sub">${known > timed.length ? `The newest ${timed.length} of them` : "Each of them"}</h3>
${boundList(timedRows(timed))}
${KEY}`;

/** A day with the times of half of its builds, and of nine of ten. */
interface TookSpan extends Span, Bound {
  readonly known: number;
  readonly ninth: Bound;
}

function toTookSpan(row: TookRow, text: string): TookSpan {
  const day = dayNumber(text);
  return {
    first: day,
    last: day,
    days: 1,
    isBefore: false,
    known: row.known,
    ...boundOf(row, "took_p50"),
    ninth: boundOf(row, "took_p90"),
  };
}

const renderTimesByDay = (
  days: readonly TookSpan[],
  now: Date,
): Markup => html`<h3 class="sub">How long half of them took</h3>
${renderCharts(days, drawDurations(days, now))}
${KEY}
${renderFoldTable<TookSpan>({
  title: "The times as a table",
  columns: [
    { head: "Day", cell: (day) => daysName(day, now) },
    { head: "Half took", cell: boundWords },
    { head: "Nine of ten took", cell: ({ ninth }) => boundWords(ninth) },
    { head: "Builds", isNumber: true, cell: ({ known }) => known },
  ],
  rows: days.toReversed(),
})}`;

const [TOP, BASE] = [8, 150];

/** The time in which half of the builds were done, day by day, on a logarithmic scale: the truth lies within each bar. */
function drawDurations(days: readonly TookSpan[], now: Date): Markup {
  const { at: y, ticks } = timesAxis(days, [BASE, TOP]);
  return drawBars({
    height: BASE + 26,
    told: "How long half of the builds took that are known, between two bounds. The table below has the numbers.",
    ticks: ticks.map(({ at, words }) => ({ y: at, words })),
    labels: [notZero(BASE)],
    spans: days,
    bars(day) {
      const [low, high] = [y(day.least), y(day.most)];
      return [
        `half took ${boundWords(day)}`,
        ["ink", low, BASE - low < 1 ? 0 : BASE - low],
        ["perhaps", high, Math.max(1.5, low - high)],
      ];
    },
    base: BASE,
    hasDates: true,
    now,
  });
}

type PhaseRow = KnownRow & Percentiles<"queued_p50" | "queued_p90" | "building_p50" | "building_p90">;

const SHOWN_PHASES = [
  ["Waited, half", "queued_p50"],
  ["Waited, nine of ten", "queued_p90"],
  ["Worked, half", "building_p50"],
  ["Worked, nine of ten", "building_p90"],
] as const;

const PHASES = trendsQuestion<PhaseRow>("phases");

/** The time that builds waited, and the time that they worked, where both are known. */
export const phases = block({
  id: "phases",
  asks: (scope: TrendsScope) => ({ rows: PHASES(scope) }),
  draw: ({ rows }, { period, now }) => ({
    title: "Waiting and working",
    count: daysName(lateOf(period), now),
    note: "The service names no queue: a build waits until it is seen at work.",
    ...drawBounds(
      rows,
      rows.flatMap((row) => SHOWN_PHASES.map(([label, name]) => ({ label, bound: boundOf(row, name) }))),
    ),
  }),
});

interface WaitRow extends KnownRow, Percentiles<"queued_p50"> {
  readonly hour: number;
}

const WAITS_BY_HOUR = trendsQuestion<WaitRow>("waits_by_hour");

/** The wait of half of the builds, by the hour of the day in which they were triggered. */
export const waits = block({
  id: "waits",
  asks: (scope: TrendsScope) => ({ rows: WAITS_BY_HOUR(scope) }),
  draw: ({ rows }, { period, now }) => ({
    title: "Waiting by hour of the day",
    count: `${daysName(lateOf(period), now)}, UTC`,
    note: "How long half of the builds waited that were triggered in each hour.",
    ...drawBounds(
      rows,
      rows
        .filter(({ known }) => known > 0)
        .map((row) => ({
          label: `${String(row.hour).padStart(2, "0")}:00`,
          bound: boundOf(row, "queued_p50"),
        })),
    ),
  }),
});

/** Times as bars, with how many of the builds they are about; or why there are none. */
function drawBounds(rows: readonly KnownRow[], bars: readonly BoundRow[]) {
  const sums = { finished: sumIn(rows, "finished"), known: sumIn(rows, "known") };
  if (sums.known === 0) return { empty: unknownTimes(sums.finished, "of these days") };
  return {
    body: html`${renderKnown(sums)}
${boundList(bars, "bounds phases")}
${KEY}`,
  };
}

const UNWATCHED = html`nobody looked meanwhile. <code>docmirror watch</code> looks each minute.`;
const KEY = renderBoundKey("surely so long", "perhaps so long");

/** The number of builds in the figures, of all that finished; a command where those are few. */
function renderKnown({ known, finished }: KnownRow): Markup {
  const share = known / finished;
  return html`<p class="note">Known to within ${KNOWN_WITHIN}: ${grouped(known)} of ${counted(finished, "build")} that finished,
    ${percent(share)}.${share < 0.5 && html` Of the others it is not known: ${UNWATCHED}`}</p>`;
}

/** The number of hours of a day that are known, and that of the builds open at once in the fullest of them. */
interface OpenRow {
  readonly day: string;
  readonly hours: number;
  readonly known: number;
  readonly open_min: number | null;
  readonly open_max: number | null;
}

const OPEN_AT_ONCE = trendsQuestion<OpenRow>("open_at_once");
const [OPEN_TOP, OPEN_BASE] = [6, 72];

/** The most builds that were open at once, day by day, in the hours in which that is known. */
export const backlog = block({
  id: "backlog",
  asks: (scope: TrendsScope) => ({ rows: OPEN_AT_ONCE(scope) }),
  draw({ rows }, { period, type, now }) {
    const [hours, known] = [sumIn(rows, "hours"), sumIn(rows, "known")];
    const days = rows.filter((row) => row.known > 0);
    const numbers = days.map(({ day }) => dayNumber(day));
    // The axis begins with the first day of which something is known.
    const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
    const shown = known === 0 ? [] : spansOf({ ...period, before: null, start: first, first, last });
    const spans = shown.map((span) => {
      const most = (column: "open_min" | "open_max") =>
        Math.max(0, ...rowsIn(days, span).map((row) => countIn(row, column)));
      return { ...span, least: most("open_min"), most: most("open_max") };
    });
    const sure = Math.max(0, ...spans.map(({ least }) => least));
    const top = Math.max(1, ...spans.map(({ most }) => most));
    const high = (count: number) => ((OPEN_BASE - OPEN_TOP) * count) / top;
    const chart = drawBars({
      height: OPEN_BASE + 26,
      told: `Open builds: at most ${grouped(top)} at once in the hours that are known, of which ${grouped(sure)} surely.`,
      ticks: [],
      labels: [
        { y: OPEN_BASE, words: "0" },
        { y: OPEN_TOP + 4, words: grouped(top) },
      ],
      spans,
      bars: ({ least, most }) => [
        `${grouped(least)}${least === most ? "" : ` to ${grouped(most)}`} open`,
        ["ink", OPEN_BASE - high(least), high(least)],
        ["perhaps", OPEN_BASE - high(most), high(most) - high(least)],
      ],
      base: OPEN_BASE,
      hasDates: true,
      now,
    });
    const mark = spans.some((span) => span.days > 1) ? "mark" : "day";
    const formats = type === undefined ? "" : "; of all formats";
    return {
      title: "Open builds",
      count: daysName(period, now),
      note: `The fullest known hour of each ${mark}: builds that were triggered and had not finished, stuck ones included${formats}.`,
      empty: known === 0 && [
        "unknown",
        "Not known.",
        hours === 0
          ? "No sync has covered these hours."
          : html`In none of ${counted(hours, "hour")} is it known to within five builds or a tenth: ${UNWATCHED}`,
      ],
      body: html`<p class="took">${known < hours ? "In the hours that are known at most" : "At most"} <b>${
        sure === 0 || sure === top ? grouped(top) : `${grouped(sure)} to ${grouped(top)}`
      }</b> at once.</p>
<p class="note">That is known to within five builds or a tenth in ${grouped(known)} of ${counted(hours, "hour")}.
  ${known < hours / 2 && html`In the others it is not: ${UNWATCHED}`}</p>
${
  // A single bar says no more than the sentence.
  spans.length > 1 &&
  html`${renderCharts(spans, chart)}
${renderKey([swatch("ink", "surely open"), swatch("perhaps", "perhaps open")])}`
}`,
    };
  },
});

import { scaleLog } from "d3-scale";
import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, inline, pick, relation } from "../../report/ask.ts";
import { type Row, sumIn } from "../parts/answers.ts";
import { block, type Empty } from "../parts/block.ts";
import {
  type Bound,
  boundList,
  dayAxis,
  drawBar,
  drawDates,
  drawPlot,
  isKnownTime,
  KNOWN_WITHIN,
  levelLine,
  renderBoundKey,
  renderKey,
  type Span,
  spansOf,
  swatch,
  ticksAround,
} from "../parts/charts.ts";
import { html, type Markup, percent } from "../parts/html.ts";
import { buildLink } from "../parts/links.ts";
import { outcomeSign } from "../parts/marks.ts";
import { dayNumber, daysName, within } from "../parts/period.ts";
import { headCell, numberCell, renderFoldTable } from "../parts/tables.ts";
import { CHOSEN, lateOf, momentWithin, type TrendsScope } from "./trends-scope.ts";

const build = relation("fact_builds");
const SHOWN_BUILDS = 12;
/** Builds of fewer days are shown one by one. */
const FEWEST_DAYS = 3;

/** How long builds take, day by day, or each of them where those are few. */
export const durations = block({
  id: "durations",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => {
    const isFinished = sql`${build.duration_s_min} is not null
  and ${isLate(scope)}`;
    return {
      // By day; the row without a day is about all of them.
      rows: ask("fact_builds")`
select ${build.triggered_on} as day, count(*) as finished, count(*) filter (where ${isTimed}) as known,
  ${percentiles("took", build.duration_s_min, build.duration_s_max, isTimed)}
from ${build}
where ${isFinished}
group by grouping sets ((day), ())
order by day nulls first`,
      timed: ask("fact_builds")`
select ${pick(build, "build_id", "outcome", "duration_s_min", "duration_s_max")}
from ${build}
where ${isFinished} and ${isTimed}
order by ${build.triggered_at} desc, ${build.build_id}
limit ${inline(SHOWN_BUILDS)}`,
    };
  },
  draw({ rows, timed }, { period, now }) {
    const whole = rows.find(({ day }) => day === null) ?? {};
    const [finished, known] = [Number(whole.finished ?? 0), Number(whole.known ?? 0)];
    const days = rows.filter((row) => row.day !== null && Number(row.known) > 0);
    const half = durationWords(boundOf(whole, "took_p50"));
    return {
      title: "How long builds take",
      count: daysName(lateOf(period), now),
      note: "From the trigger to the finish. The truth lies between two bounds.",
      empty: known === 0 && unknown(finished),
      body: html`<p class="took">${
        known === 1
          ? html`The one build that is known took <b>${half}</b>.`
          : html`Half of the builds whose times are known took
              <b>${half}</b>, nine of ten <b>${durationWords(boundOf(whole, "took_p90"))}</b>.`
      }</p>
${renderKnown(known, finished)}
${days.length < FEWEST_DAYS ? renderTimed(timed, known) : renderTimesByDay(days, now)}`,
    };
  },
});

const isTimed = isKnownTime(build.duration_s_min, build.duration_s_max);

/** That a build is of the last days of the period, and of the chosen format. */
const isLate = ({ period, type }: TrendsScope): SQL =>
  sql`${within(build.triggered_on, lateOf(period).first, period.last)}${type === undefined ? undefined : sql` and ${build.type} = ${type}`}`;

function renderTimed(timed: readonly Row[], known: number): Markup {
  const bars = timed.map((row) => {
    const bound = { least: Number(row.duration_s_min), most: Number(row.duration_s_max) };
    const label = html`${outcomeSign(row.outcome)} ${buildLink(row.build_id)}`;
    return { label, bound, words: durationWords(bound) };
  });
  return html`<h3 class="sub">${known > timed.length ? `The newest ${timed.length} of them` : "Each of them"}</h3>
${boundList(bars)}
${KEY}`;
}

function renderTimesByDay(rows: readonly Row[], now: Date): Markup {
  const days = rows.map((row) => {
    const day = dayNumber(row.day);
    const of = { first: day, last: day, days: 1, isBefore: false, known: Number(row.known) };
    return { ...of, ...boundOf(row, "took_p50"), p90: boundOf(row, "took_p90") };
  });
  return html`<h3 class="sub">How long half of them took</h3>
<div class="charts${days.length < 8 ? " few" : ""}">${drawDurationChart(days, now)}</div>
${KEY}
${renderFoldTable(
  [headCell("Day"), headCell("Half took"), headCell("Nine of ten took"), headCell("Builds", "num")],
  days.toReversed().map(
    (day) => html`<tr><th scope="row">${daysName(day, now)}</th>
      <td>${durationWords(day)}</td><td>${durationWords(day.p90)}</td>${numberCell(day.known)}</tr>`,
  ),
  "The times as a table",
)}`;
}

const [DURATION_TOP, DURATION_BASE, DURATION_HEIGHT] = [8, 150, 176];
/** A percentile of the builds of a span, between two bounds. */
type BoundSpan = Span & Bound;

/** How long half of the builds took, span by span, on a logarithmic scale: the truth lies within each bar. */
function drawDurationChart(spans: readonly BoundSpan[], now: Date): Markup {
  const axis = dayAxis(spans);
  const ticks = ticksAround(spans);
  const [floor, ceiling] = [ticks[0]?.s ?? 1, ticks.at(-1)?.s ?? 1];
  const scale = scaleLog(
    [floor, Math.max(ceiling, ...spans.map(({ most }) => most))],
    [DURATION_BASE, DURATION_TOP],
  );
  const y = (seconds: number) => scale(Math.max(floor, seconds));
  return drawPlot({
    height: DURATION_HEIGHT,
    told: "How long half of the builds took that are known, between two bounds. The table below has the numbers.",
    labels: ticks.map(({ s, words }) => ({ y: (y(s) + 4).toFixed(1), words })),
    labelsTo: 42,
    body: html`${ticks.map(({ s }) => levelLine(y(s).toFixed(1)))}
${spans.map((span) => {
  const [low, high] = [y(span.least), y(span.most)];
  const surely = DURATION_BASE - low;
  return html`<g><title>${daysName(span, now)}: half took ${durationWords(span)}</title>
    ${surely < 1 ? "" : drawBar("ink", axis.bar(span), low.toFixed(1), surely)}
    ${drawBar("perhaps", axis.bar(span), high.toFixed(1), Math.max(1.5, low - high))}</g>`;
})}
${levelLine(DURATION_BASE, "base")}${drawDates(spans, axis, DURATION_HEIGHT - 4, now)}`,
  });
}

/** How long builds waited, and how long they worked, where both are known. */
export const phases = block({
  id: "phases",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => {
    const isKnown = sql`${isWaitKnown} and ${isKnownTime(build.building_s_min, build.building_s_max)}`;
    return {
      rows: ask("fact_builds")`
select count(${build.building_s_min}) as finished, count(*) filter (where ${isKnown}) as known,
  ${percentiles("queued", build.queued_s_min, build.queued_s_max, isKnown)},
  ${percentiles("building", build.building_s_min, build.building_s_max, isKnown)}
from ${build}
where ${isLate(scope)}`,
    };
  },
  draw({ rows: [row = {}] }, { period, now }) {
    const bars = [
      { label: "Waited, half", name: "queued_p50" },
      { label: "Waited, nine of ten", name: "queued_p90" },
      { label: "Worked, half", name: "building_p50" },
      { label: "Worked, nine of ten", name: "building_p90" },
    ];
    return {
      title: "Waiting and working",
      count: daysName(lateOf(period), now),
      note: "The service names no queue: a build waits until it is seen at work.",
      ...drawBounds(
        bars.map(({ label, name }) => ({ label, bound: boundOf(row, name) })),
        Number(row.known ?? 0),
        Number(row.finished ?? 0),
      ),
    };
  },
});

const isWaitKnown = isKnownTime(build.queued_s_min, build.queued_s_max);

/** How long half of the builds waited, by the hour of the day in which they were triggered. */
export const waits = block({
  id: "waits",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({
    rows: ask("fact_builds")`
select extract(hour from ${build.triggered_at} at time zone 'UTC')::int as hour, count(*) as finished,
  count(*) filter (where ${isWaitKnown}) as known, ${percentiles("queued", build.queued_s_min, build.queued_s_max, isWaitKnown)}
from ${build}
where ${build.building_s_min} is not null
  and ${isLate(scope)}
group by hour
order by hour`,
  }),
  draw({ rows }, { period, now }) {
    const hours = rows.filter((row) => Number(row.known) > 0);
    return {
      title: "Waiting by hour of the day",
      count: `${daysName(lateOf(period), now)}, UTC`,
      note: "How long half of the builds waited that were triggered in each hour.",
      ...drawBounds(
        hours.map((row) => ({
          label: `${String(row.hour).padStart(2, "0")}:00`,
          bound: boundOf(row, "queued_p50"),
        })),
        sumIn(rows, "known"),
        sumIn(rows, "finished"),
      ),
    };
  },
});

function drawBounds(rows: readonly { label: string; bound: Bound }[], known: number, finished: number) {
  const bars = rows.map(({ label, bound }) => ({ label, bound, words: durationWords(bound) }));
  return {
    empty: known === 0 && unknown(finished),
    body: html`${renderKnown(known, finished)}
${boundList(bars, "bounds phases")}
${KEY}`,
  };
}

export const UNWATCHED = html`nobody looked between trigger and finish. <code>docmirror watch</code> looks each minute.`;
const KEY = renderBoundKey("surely so long", "perhaps so long");

/** How many builds the figures are about, of all that finished; a command where those are few. */
function renderKnown(known: number, finished: number): Markup {
  const share = known / finished;
  return html`<p class="note">Known to within ${KNOWN_WITHIN}: ${grouped(known)} of ${counted(finished, "build")} that finished,
    ${percent(share)}.${share < 0.5 ? html` Of the others it is not known: ${UNWATCHED}` : ""}</p>`;
}

const unknown = (finished: number): Empty => [
  "unknown",
  "Not known.",
  finished === 0
    ? "No build of these days has finished."
    : html`Of ${counted(finished, "finished build")} no time is known to within ${KNOWN_WITHIN}: ${UNWATCHED}`,
];

const boundOf = (row: Row, name: string): Bound => ({
  least: Number(row[`${name}_least`]),
  most: Number(row[`${name}_most`]),
});

/** Both bounds of a time of builds that is known, as percentiles: the percentile of a bound is a bound of the percentile. */
function percentiles(name: string, least: SQL, most: SQL, isKnown: SQL): SQL {
  const of = (bound: SQL, share: number) =>
    sql`percentile_cont(${inline(share)}) within group (order by ${bound}) filter (where ${isKnown})`;
  const both = (word: string, share: number) =>
    sql`${of(least, share)} as ${sql.raw(`${name}_${word}_least`)},\n  ${of(most, share)} as ${sql.raw(`${name}_${word}_most`)}`;
  return sql`${both("p50", 0.5)},\n  ${both("p90", 0.9)}`;
}

/** A length of time between two bounds in words: `1 to 3 min`, `at most 2 h`. */
function durationWords({ least, most }: Bound): string {
  if (least < 1) return `at most ${lengthOf(most)}`;
  const [from, to] = [lengthOf(least), lengthOf(most)];
  return from === to ? from : `${from} to ${to}`;
}

/** A length of time in its two largest units: `2 h 49 min`. The smaller one is left out where it says little. */
export function lengthOf(seconds: number): string {
  const [minutes, hours, days] = [Math.round(seconds / 60), Math.round(seconds / 3600), seconds / 86_400];
  if (seconds < 59.5) return `${Math.round(seconds)}\u00a0s`;
  if (minutes < 10) return two(Math.floor(Math.round(seconds) / 60), "min", Math.round(seconds) % 60, "s");
  if (minutes < 60) return `${minutes}\u00a0min`;
  if (minutes < 600) return two(Math.floor(minutes / 60), "h", minutes % 60, "min");
  if (hours < 48) return `${hours}\u00a0h`;
  return `${days < 10 ? days.toFixed(1) : Math.round(days)}\u00a0d`;
}

const two = (large: number, unit: string, small: number, smallUnit: string): string =>
  `${large}\u00a0${unit}${small === 0 ? "" : ` ${small}\u00a0${smallUnit}`}`;

const open = relation("backlog");

/** How many builds were open at once, at most, day by day, in the hours in which that is known. */
export const backlog = block({
  id: "backlog",
  narrowedBy: CHOSEN,
  asks({ period: { first, last } }: TrendsScope) {
    const isKnown = sql`filter (where ${open.open_max} - ${open.open_min} <= greatest(5, ${open.open_max} / 10))`;
    return {
      rows: ask("backlog")`
select (${open.hour} at time zone 'UTC')::date as day, count(*) as hours, count(*) ${isKnown} as known,
  max(${open.open_min}) ${isKnown} as open_min, max(${open.open_max}) ${isKnown} as open_max
from ${open}
where ${momentWithin(open.hour, first, last)} and ${open.is_covered}
group by day
order by day`,
    };
  },
  draw({ rows }, { period, type, now }) {
    const [hours, known] = [sumIn(rows, "hours"), sumIn(rows, "known")];
    const byDay = new Map(
      rows
        .filter((row) => Number(row.known) > 0)
        .map((row) => [dayNumber(row.day), { least: Number(row.open_min), most: Number(row.open_max) }]),
    );
    // The axis begins with the first day of which something is known.
    const [first, last] = [Math.min(...byDay.keys()), Math.max(...byDay.keys())];
    const shown = known === 0 ? [] : spansOf({ ...period, before: null, start: first, first, last });
    const spans = shown.map((span) => {
      let [least, most] = [0, 0];
      for (let day = span.first; day <= span.last; day++) {
        const known = byDay.get(day);
        if (known !== undefined) [least, most] = [Math.max(least, known.least), Math.max(most, known.most)];
      }
      return { ...span, least, most };
    });
    const axis = dayAxis(spans);
    const sure = Math.max(0, ...spans.map(({ least }) => least));
    const [bottom, height] = [72, 98];
    const top = Math.max(1, ...spans.map(({ most }) => most));
    const high = (count: number) => ((bottom - 6) * count) / top;
    const chart = drawPlot({
      height,
      told: `Open builds: at most ${grouped(top)} at once in the hours that are known, of which ${grouped(sure)} surely.`,
      labels: [
        { y: bottom + 4, words: "0" },
        { y: bottom - high(top) + 8, words: grouped(top) },
      ],
      body: html`${spans.map((span) => {
        const [surely, perhaps] = [high(span.least), high(span.most) - high(span.least)];
        const most = span.least === span.most ? "" : ` to ${grouped(span.most)}`;
        const bar = axis.bar(span);
        return html`<g><title>${daysName(span, now)}: ${grouped(span.least)}${most} open</title>
        ${surely === 0 ? "" : drawBar("ink", bar, (bottom - surely).toFixed(1), surely)}
        ${perhaps === 0 ? "" : drawBar("perhaps", bar, (bottom - surely - perhaps).toFixed(1), perhaps)}</g>`;
      })}
${levelLine(bottom, "base")}${drawDates(spans, axis, height - 4, now)}`,
    });
    const mark = spans.some(({ days }) => days > 1) ? "mark" : "day";
    const ofAll = type === undefined ? "" : "; of all formats";
    return {
      title: "Open builds",
      count: daysName(period, now),
      note: `The fullest known hour of each ${mark}: builds that were triggered and had not finished, stuck ones included${ofAll}.`,
      empty: known === 0 && [
        "unknown",
        "Not known.",
        hours === 0
          ? "No sync has covered these hours."
          : html`In none of ${counted(hours, "hour")} is it known to within five builds or a tenth: ${UNWATCHED}`,
      ],
      body: html`<p class="took">At most <b>${sure === 0 || sure === top ? grouped(top) : `${grouped(sure)} to ${grouped(top)}`}</b> at once.</p>
<p class="note">That is known to within five builds or a tenth in ${grouped(known)} of ${counted(hours, "hour")}.
  ${known < hours / 2 ? html`In the others it is not: ${UNWATCHED}` : ""}</p>
${
  // A single bar says no more than the sentence.
  spans.length < 2
    ? ""
    : html`<div class="charts${spans.length < 8 ? " few" : ""}">${chart}</div>
${renderKey([swatch("ink", "surely open"), swatch("perhaps", "perhaps open")])}`
}`,
    };
  },
});

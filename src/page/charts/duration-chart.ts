import { formatBetween } from "../../builds/format-span.ts";
import { grouped } from "../words.ts";
import { backdrop, blindKey, titledDays } from "./backdrop.ts";
import { createCalendar, DAY_MS, type Day, startOf } from "./calendar.ts";
import { drawChart, type Layers, noChart } from "./draw-chart.ts";
import { createDurationAxis } from "./duration-axis.ts";
import type { Frame } from "./frame.ts";
import { PAINT } from "./paint.ts";

/** A row of `report.build_times_daily`. Times are in seconds. */
export interface BuildTimesDay extends Day {
  readonly finished: number | null;
  readonly p50_s_min: number | null;
  readonly p50_s_max: number | null;
  readonly p95_s_min: number | null;
  readonly p95_s_max: number | null;
}

interface Bounds {
  readonly low: number;
  /** Null when there is no upper bound. */
  readonly high: number | null;
}

/**
 * Bounds further apart than this factor say nothing. Lower bounds under half a minute count as half a minute.
 */
const VAGUE_FACTOR = 20;
const SHORT_S = 30;

const PERCENTILES = [
  {
    fill: "url(#slow)",
    fillOpacity: 1,
    stroke: PAINT.slow,
    boundsOf: (day: BuildTimesDay) => boundsOf(day.p95_s_min, day.p95_s_max),
  },
  {
    fill: PAINT.median,
    fillOpacity: 0.55,
    stroke: PAINT.median,
    boundsOf: (day: BuildTimesDay) => boundsOf(day.p50_s_min, day.p50_s_max),
  },
] as const;

/**
 * How long builds take by day, as a figure in HTML. For the median and the 95th percentile it draws a box
 * from the lower to the upper bound; the true value is in between. Days whose bounds say nothing, because the
 * mirror polled too rarely, are left out and counted in a note. The axis is logarithmic, since builds take
 * seconds or hours. 0 is drawn at its lowest value.
 */
export async function durationChart(rows: readonly BuildTimesDay[]): Promise<string> {
  const calendar = createCalendar(rows);
  const timed = calendar?.days.filter((day) => day.p50_s_min !== null) ?? [];
  const newest = timed.at(-1);
  if (calendar === null || newest === undefined) return noChart("No build has finished in this time.");
  const { days } = calendar;
  const known = PERCENTILES.map(({ boundsOf }) => timed.map(boundsOf).filter((found) => found !== null));
  const bounds = known.flat();
  if (bounds.length === 0)
    return noChart(
      "The mirror polled too rarely in this time to show how long builds take. The table has the bounds. Rounds of the watch narrow them.",
    );
  const vague = timed.length - Math.min(...known.map((found) => found.length));
  const note = [
    calendar.note ?? "",
    vague > 0 ? `${vague} of ${timed.length} days are left out: the mirror polled too rarely.` : "",
  ]
    .join(" ")
    .trim();
  const axis = createDurationAxis(bounds.flatMap(({ low, high }) => (high === null ? [low] : [low, high])));
  const isUnbounded = bounds.some(({ high }) => high === null);

  const layers = (frame: Frame): Layers => [
    ...backdrop(calendar, frame),
    ...PERCENTILES.flatMap(({ fill, fillOpacity, stroke, boundsOf }, index): Layers => {
      const boxes = timed.flatMap((day) => boxesOf(day, boundsOf(day), axis.foot));
      return [
        {
          data: { values: boxes.filter(({ high }) => high !== null) },
          mark: {
            type: "rect",
            fill,
            fillOpacity,
            stroke,
            strokeWidth: frame.lineWidth / 2,
            aria: false,
          },
          encoding: {
            x: { field: "at", type: "temporal" },
            x2: { field: "end" },
            y: {
              field: "low",
              type: "quantitative",
              ...(index === 0 && axis.encoding),
            },
            y2: { field: "high" },
          },
        },
        {
          data: { values: boxes.filter(({ high }) => high === null) },
          mark: {
            type: "point",
            shape: "triangle-up",
            size: 40,
            opacity: 1,
            fill: stroke,
            stroke: null,
            aria: false,
          },
          encoding: { x: { field: "middle", type: "temporal" }, y: { field: "low", type: "quantitative" } },
        },
      ];
    }),
    ...titledDays(frame, days, wordsOf),
  ];

  return drawChart({
    name: "duration",
    title: "How long builds take by day",
    description:
      `${days.length} days to ${days.at(-1)?.day} UTC, on a logarithmic axis. On ${newest.day}, the newest day with finished builds, ` +
      `the median was ${between(newest.p50_s_min, newest.p50_s_max)} and the 95th percentile ${between(newest.p95_s_min, newest.p95_s_max)}.`,
    key: [
      { swatch: "median", label: "half of the builds took no longer (median)" },
      { swatch: "slow", label: "95 % took no longer" },
      ...(isUnbounded
        ? [{ swatch: "unbounded" as const, label: "at least this long: no upper bound is known" }]
        : []),
      ...blindKey(days),
    ],
    ...(note === "" ? {} : { note }),
    layers,
  });
}

/** Null when the bounds say nothing. */
function boundsOf(low: number | null, high: number | null): Bounds | null {
  if (low === null || (high === null && low < SHORT_S)) return null;
  return high !== null && high > VAGUE_FACTOR * Math.max(low, SHORT_S) ? null : { low, high };
}

function boxesOf(day: BuildTimesDay, bounds: Bounds | null, foot: number) {
  if (bounds === null) return [];
  const at = startOf(day.day);
  // A small gap separates the boxes of two days.
  return [
    {
      at: at + DAY_MS * 0.1,
      middle: at + DAY_MS / 2,
      end: at + DAY_MS * 0.9,
      low: Math.max(bounds.low, foot),
      high: bounds.high === null ? null : Math.max(bounds.high, foot),
    },
  ];
}

function between(low: number | null, high: number | null): string {
  return low === null
    ? "unknown"
    : formatBetween({ least_ms: low * 1000, most_ms: high === null ? null : high * 1000 });
}

function wordsOf(day: BuildTimesDay): string {
  if (day.finished === null) return `${day.day}: not read yet`;
  if (day.p50_s_min === null) return `${day.day}: nothing finished`;
  const open = day.is_complete ? "" : "; may still change";
  return `${day.day}: ${grouped(day.finished)} finished builds, median ${between(day.p50_s_min, day.p50_s_max)}, 95th percentile ${between(day.p95_s_min, day.p95_s_max)}${open}`;
}

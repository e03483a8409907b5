import { grouped, percent, percentRange } from "../words.ts";
import { backdrop, blindKey, titledDays } from "./backdrop.ts";
import { createCalendar, DAY_MS, type Day, startOf } from "./calendar.ts";
import { drawChart, type Layers, noChart } from "./draw-chart.ts";
import type { Frame } from "./frame.ts";
import { type IncidentHour, incidentLines, incidentPointers, markIncidents } from "./incident-hours.ts";
import { PAINT } from "./paint.ts";

/** A row of `report.success_rate_daily`, or of one project in `report.success_rate_daily_by_project`. */
export interface RateDay extends Day {
  readonly finished: number | null;
  readonly succeeded: number | null;
  readonly success_rate: number | null;
  readonly success_rate_low: number | null;
  readonly success_rate_high: number | null;
}

/**
 * The width in pixels that a day needs for a point. With less the points hide the line. A day between two
 * gaps always gets one.
 */
const ROOM_FOR_POINT = 8;

/**
 * The success rate by day with its Wilson interval as a band, as a figure in HTML. Days on which nothing
 * finished are gaps, days that may still change are dashed and hollow, and incident hours are marked. The
 * axis is always 0 to 100 %, so that two projects can be compared by eye.
 */
export async function successRateChart(
  rows: readonly RateDay[],
  incidentHours: readonly IncidentHour[] = [],
): Promise<string> {
  const calendar = createCalendar(rows);
  const rated = calendar?.days.filter(hasRate) ?? [];
  if (calendar === null || rated.length === 0) return noChart("No build has finished in this time.");
  const { days, note } = calendar;
  const points = createPoints(days);
  const incidents = markIncidents(incidentHours, calendar);
  const changing = points.some(({ isComplete, rate }) => !isComplete && rate !== null);

  const layers = (frame: Frame): Layers => {
    const at = { field: "at", type: "temporal" as const };
    const end = { field: "end" };
    const share = (field: string) => ({ field, type: "quantitative" as const });
    const shares = {
      ...share("low"),
      scale: { domain: [0, 1] },
      axis: { title: null, values: [0, 0.25, 0.5, 0.75, 1], labelExpr: "round(datum.value * 100) + ' %'" },
    };
    const middle = { ...at, field: "middle" };
    return [
      ...backdrop(calendar, frame),
      {
        data: { values: points.filter(({ rate }) => rate !== null) },
        mark: { type: "rect", fill: PAINT.rate, fillOpacity: 0.22, aria: false },
        encoding: { x: at, x2: end, y: shares, y2: { field: "high" } },
      },
      ...incidentLines(incidents),
      {
        data: { values: points },
        mark: {
          type: "line",
          stroke: PAINT.rate,
          strokeWidth: frame.lineWidth,
          strokeDash: [4, 3],
          aria: false,
        },
        encoding: { x: middle, y: share("changing") },
      },
      {
        data: { values: points },
        mark: { type: "line", stroke: PAINT.rate, strokeWidth: frame.lineWidth, aria: false },
        encoding: { x: middle, y: share("settled") },
      },
      {
        data: {
          values: points.filter(
            ({ rate, isAlone, isComplete }) =>
              rate !== null && isComplete && (isAlone || frame.width / days.length >= ROOM_FOR_POINT),
          ),
        },
        mark: {
          type: "point",
          shape: "circle",
          opacity: 1,
          fill: PAINT.rate,
          stroke: null,
          aria: false,
        },
        encoding: {
          x: middle,
          y: share("rate"),
          size: { field: "size", type: "quantitative", scale: null },
        },
      },
      {
        data: { values: points.filter(({ rate, isComplete }) => rate !== null && !isComplete) },
        mark: {
          type: "point",
          shape: "circle",
          opacity: 1,
          size: 34,
          fill: PAINT.paper,
          stroke: PAINT.rate,
          strokeWidth: 1.5,
          aria: false,
        },
        encoding: { x: middle, y: share("rate") },
      },
      ...titledDays(frame, days, wordsOf),
      ...incidentPointers(incidents),
    ];
  };

  const finished = days.reduce((sum, day) => sum + (day.finished ?? 0), 0);
  const succeeded = days.reduce((sum, day) => sum + (day.succeeded ?? 0), 0);
  const worst = rated.reduce((low, day) => (day.success_rate < low.success_rate ? day : low));
  return drawChart({
    name: "success-rate",
    title: "Success rate by day",
    description:
      `${days.length} days to ${days.at(-1)?.day} UTC. ${grouped(succeeded)} of ${grouped(finished)} finished builds succeeded, ` +
      `${percent(succeeded / finished)}. The lowest rate is on ${worst.day}, ${percent(worst.success_rate)}.`,
    key: [
      { swatch: "rate", label: "share of finished builds that succeeded" },
      { swatch: "interval", label: "95 % interval: wide where few builds finished" },
      ...(changing ? [{ swatch: "changing" as const, label: "may still change" }] : []),
      ...(incidents.length > 0 ? [{ swatch: "incident" as const, label: "incident hour" }] : []),
      ...blindKey(days),
    ],
    ...(note === undefined ? {} : { note }),
    layers,
  });
}

type RatedDay = RateDay & {
  readonly success_rate: number;
  readonly success_rate_low: number;
  readonly success_rate_high: number;
};

function hasRate(day: RateDay): day is RatedDay {
  return day.success_rate !== null;
}

function createPoints(days: readonly RateDay[]) {
  return days.map((day, index) => {
    const [before, after] = [days[index - 1], days[index + 1]];
    const touchesOpen = [before, day, after].some((near) => near?.is_complete === false);
    const at = startOf(day.day);
    const isAlone = (before?.success_rate ?? null) === null && (after?.success_rate ?? null) === null;
    return {
      at,
      middle: at + DAY_MS / 2,
      end: at + DAY_MS,
      rate: day.success_rate,
      low: day.success_rate_low,
      high: day.success_rate_high,
      // A segment of the line is dashed when one of its ends is. The solid line and the dashed line meet at a
      // complete day.
      settled: day.is_complete ? day.success_rate : null,
      changing: touchesOpen ? day.success_rate : null,
      isComplete: day.is_complete,
      isAlone,
      size: isAlone ? 40 : 18,
    };
  });
}

function wordsOf(day: RateDay): string {
  if (day.finished === null) return `${day.day}: not read yet`;
  if (!hasRate(day)) return `${day.day}: nothing finished`;
  const interval = percentRange(day.success_rate_low, day.success_rate_high);
  const open = day.is_complete ? "" : "; may still change";
  return `${day.day}: ${percent(day.success_rate)} (${interval}) of ${grouped(day.finished)} finished builds${open}`;
}

import { grouped } from "../words.ts";
import { backdrop, blindKey, titledDays } from "./backdrop.ts";
import { createCalendar, DAY_MS, type Day, startOf } from "./calendar.ts";
import { drawChart, type Layers, noChart } from "./draw-chart.ts";
import type { Frame } from "./frame.ts";
import { PAINT } from "./paint.ts";

/** A row of `report.success_rate_daily`, or of one project in `report.success_rate_daily_by_project`. */
export interface VolumeDay extends Day {
  readonly builds: number | null;
  readonly succeeded: number | null;
  readonly failed: number | null;
  readonly unfinished: number | null;
}

/**
 * From the bottom up. The failed builds are at the bottom, because only columns that begin at zero can be
 * compared by eye.
 */
const PARTS = [
  { outcome: "failed", fill: "url(#failed)", stroke: PAINT.failed },
  { outcome: "succeeded", fill: PAINT.succeeded, stroke: PAINT.succeeded },
  { outcome: "unfinished", fill: "url(#unfinished)", stroke: PAINT.unfinished },
] as const;

const PARTS_IN_WORDS = [
  { outcome: "succeeded", words: "succeeded" },
  { outcome: "failed", words: "failed" },
  { outcome: "unfinished", words: "not finished" },
] as const;

/** Builds by day and outcome as stacked columns, as a figure in HTML. Days that may still change are pale. */
export async function volumeChart(rows: readonly VolumeDay[]): Promise<string> {
  const calendar = createCalendar(rows);
  const total = calendar?.days.reduce((sum, day) => sum + (day.builds ?? 0), 0) ?? 0;
  if (calendar === null || total === 0) return noChart("No builds in this time.");
  const { days, note } = calendar;
  const busiest = days.reduce((most, day) => ((day.builds ?? 0) > (most.builds ?? 0) ? day : most));

  const layers = (frame: Frame): Layers => [
    ...backdrop(calendar, frame),
    ...PARTS.map(({ outcome, fill, stroke }, index) => ({
      data: { values: days.flatMap((day) => columnsOf(day, index)) },
      mark: { type: "rect" as const, fill, stroke, strokeWidth: 0.75, aria: false },
      encoding: {
        x: { field: "at", type: "temporal" as const },
        x2: { field: "end" },
        y: {
          field: "low",
          type: "quantitative" as const,
          ...(index === 0 && {
            scale: { domain: [0, busiest.builds ?? 0], nice: true },
            axis: { title: null, tickMinStep: 1, tickCount: 5, format: ",d" },
          }),
        },
        y2: { field: "high" },
        fillOpacity: { field: "opacity", type: "quantitative" as const, scale: null },
      },
      name: outcome,
    })),
    ...titledDays(frame, days, wordsOf),
  ];

  const sum = (part: "succeeded" | "failed" | "unfinished") =>
    days.reduce((total, day) => total + (day[part] ?? 0), 0);
  return drawChart({
    name: "volume",
    title: "Builds by day",
    description:
      `${days.length} days to ${days.at(-1)?.day} UTC. ${grouped(total)} builds: ${grouped(sum("succeeded"))} succeeded, ` +
      `${grouped(sum("failed"))} failed, ${grouped(sum("unfinished"))} have not finished. The busiest day is ${busiest.day} with ${grouped(busiest.builds ?? 0)}.`,
    key: [
      { swatch: "succeeded", label: "succeeded" },
      { swatch: "failed", label: "failed" },
      ...(sum("unfinished") > 0 ? [{ swatch: "unfinished" as const, label: "not finished" }] : []),
      ...(days.some(isPale) ? [{ swatch: "pale" as const, label: "pale: may still change" }] : []),
      ...blindKey(days),
    ],
    ...(note === undefined ? {} : { note }),
    layers,
  });
}

function isPale(day: VolumeDay): boolean {
  return !day.is_complete && (day.builds ?? 0) > 0;
}

/** The part of a day's column for one outcome. No part when the day has no such build. */
function columnsOf(day: VolumeDay, index: number) {
  const height = (part: number) => day[PARTS[part]?.outcome ?? "failed"] ?? 0;
  let low = 0;
  for (let below = 0; below < index; below++) low += height(below);
  const at = startOf(day.day);
  // A small gap separates two days.
  return height(index) === 0
    ? []
    : [
        {
          at: at + DAY_MS * 0.1,
          end: at + DAY_MS * 0.9,
          low,
          high: low + height(index),
          opacity: day.is_complete ? 1 : 0.35,
        },
      ];
}

function wordsOf(day: VolumeDay): string {
  if (day.builds === null) return `${day.day}: not read yet`;
  const open = day.is_complete ? "" : "; may still change";
  const parts = PARTS_IN_WORDS.map(({ outcome, words }) => `${grouped(day[outcome] ?? 0)} ${words}`);
  return `${day.day}: ${grouped(day.builds)} builds, ${parts.join(", ")}${open}`;
}

import { type Calendar, DAY_MS, type Day, dayAxis, startOf } from "./calendar.ts";
import type { KeyEntry } from "./chart-key.ts";
import type { Layers } from "./draw-chart.ts";
import type { Frame } from "./frame.ts";

/**
 * The lowest layer, with the axis of days for all layers. It fills the columns of days that no sync has read:
 * an empty column would look like a day without builds.
 */
export function backdrop(calendar: Calendar<Day>, frame: Frame): Layers {
  return [
    {
      data: { values: calendar.days.filter((day) => !day.is_covered).map(columnOf) },
      mark: { type: "rect", fill: "url(#blind)", aria: false },
      encoding: { x: { field: "at", ...dayAxis(calendar, frame) }, x2: { field: "end" } },
    },
  ];
}

/** The entry of the key for such days. No entry when there are none. */
export function blindKey(days: readonly Day[]): KeyEntry[] {
  return days.some((day) => !day.is_covered) ? [{ swatch: "blind", label: "not read yet" }] : [];
}

/**
 * The highest layer: invisible columns whose text a mouse shows. A phone has no mouse, so the narrow picture
 * leaves them out.
 */
export function titledDays<Row extends Day>(
  frame: Frame,
  days: readonly Row[],
  words: (day: Row) => string,
): Layers {
  if (frame.name === "narrow") return [];
  return [
    {
      data: { values: days.map((day) => ({ ...columnOf(day), words: words(day) })) },
      mark: { type: "rect", fill: "transparent", stroke: null },
      encoding: {
        x: { field: "at", type: "temporal" },
        x2: { field: "end" },
        description: { field: "words" },
      },
    },
  ];
}

function columnOf({ day }: Day): { at: number; end: number } {
  return { at: startOf(day), end: startOf(day) + DAY_MS };
}

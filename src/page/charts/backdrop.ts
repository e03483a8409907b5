import { type Calendar, DAY_MS, type Day, dayAxis, startOf } from "./calendar.ts";
import type { KeyEntry } from "./chart-key.ts";
import type { Layers } from "./draw-chart.ts";
import type { Frame } from "./frame.ts";

/**
 * The lowest layer, which brings the axis of days for all. It fills whole columns for the days that no sync has looked at: an empty space
 * would say that nothing was built.
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

/** What the key says of such days; nothing where there are none. */
export function blindKey(days: readonly Day[]): KeyEntry[] {
  return days.some((day) => !day.is_covered) ? [{ swatch: "blind", label: "not looked at yet" }] : [];
}

/** The highest layer: invisible columns whose words a mouse brings up. A phone has none, so its picture is spared them. */
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

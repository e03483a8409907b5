import type { Calendar, Day } from "./calendar.ts";
import type { Layers } from "./draw-chart.ts";
import { PAINT } from "./paint.ts";

/** A row of `report.incident_hours`. */
export interface IncidentHour {
  /** The UTC hour as Postgres writes it: 2026-11-03 14:00:00+00. */
  readonly hour: string;
  readonly projects: number;
  readonly projects_failing: number;
}

/** The place of an incident hour in a chart, and the text that a mouse shows. */
export interface IncidentMark {
  readonly at: number;
  readonly words: string;
}

/** The hours that are within the days of a chart. */
export function markIncidents(
  hours: readonly IncidentHour[],
  { from, to }: Calendar<Day>,
): readonly IncidentMark[] {
  return hours
    .map(({ hour, projects, projects_failing }) => ({
      at: Date.parse(hour.replace(" ", "T").replace(/\+00$/, "Z")),
      words: `Incident hour ${hour.slice(0, 16)} UTC: ${projects_failing} of ${projects} projects failed`,
    }))
    .filter(({ at }) => at >= from && at < to);
}

/** An hour is half a pixel wide in a chart of 90 days, so it is drawn as a line from top to bottom. */
export function incidentLines(marks: readonly IncidentMark[]): Layers {
  return [
    {
      data: { values: [...marks] },
      mark: { type: "rule", stroke: PAINT.incident, strokeWidth: 1.5, strokeDash: [2, 3], aria: false },
      encoding: { x: { field: "at", type: "temporal" } },
    },
  ];
}

/** The pointers to the lines. They must be above all other layers, so that a mouse finds them. */
export function incidentPointers(marks: readonly IncidentMark[]): Layers {
  return [
    {
      data: { values: [...marks] },
      mark: {
        type: "point",
        shape: "triangle-down",
        size: 90,
        opacity: 1,
        fill: PAINT.incident,
        stroke: null,
        yOffset: 4,
      },
      encoding: {
        x: { field: "at", type: "temporal" },
        y: { value: 0 },
        description: { field: "words" },
      },
    },
  ];
}

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

/** Where an incident hour stands in a chart, and what a mouse is told of it. */
export interface IncidentMark {
  readonly at: number;
  readonly words: string;
}

/** Those of the hours that lie in the days of a chart. */
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

/** An hour is half a pixel wide among 90 days, so it is a line from top to bottom. */
export function incidentLines(marks: readonly IncidentMark[]): Layers {
  return [
    {
      data: { values: [...marks] },
      mark: { type: "rule", stroke: PAINT.incident, strokeWidth: 1.5, strokeDash: [2, 3], aria: false },
      encoding: { x: { field: "at", type: "temporal" } },
    },
  ];
}

/** What points to the lines. It belongs above all other layers, so that a mouse finds it. */
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

import type { Row } from "../parts/row.ts";

/** The outcomes of the last builds of a listed series, the oldest first. */
export type SeriesStrips = (row: Row) => readonly string[];

/** The key of a series among those of its project. */
export function seriesKey(row: object): string {
  const { version_id, type, reference } = row as Row;
  return JSON.stringify([version_id, type, reference ?? null]);
}

/**
 * By how much the dates of builds differ from those that are stored for the same ids. A build's date never changes, so another
 * one is that of another build. Two differences are none: the same date written less exactly, and all dates in another zone.
 */
import { type AnySql, statement } from "../../store/connection/sql.ts";

/** So many builds whose date differs by `byMs`: 0 for those with the stored date. */
export interface DateShift {
  byMs: number;
  builds: number;
}

const DATE_SHIFTS = statement<DateShift>("date_shifts", import.meta.url);

/** A smaller difference comes from the number of decimals. */
const EXACT_MS = 1000;
/** Zones lie on quarters of an hour, up to 14 hours from UTC. */
const ZONE_STEP_MS = 900_000;
const LARGEST_ZONE_MS = 14 * 3_600_000;
/** Fewer say nothing of a zone. */
const LEAST_MOVED = 3;

/** `dates` are local times or null, one for each id. Ids and dates that are not stored are left out. */
export async function findDateShifts(
  sql: AnySql,
  ids: readonly string[],
  dates: readonly (string | null)[],
): Promise<DateShift[]> {
  return ids.length === 0 ? [] : DATE_SHIFTS(sql, { ids, dates });
}

export const isSameDate = (byMs: number): boolean => Math.abs(byMs) < EXACT_MS;

/** True for a difference that another zone makes, and hardly anything else. */
export function isZoneShift(byMs: number): boolean {
  const beside = Math.abs(byMs - Math.round(byMs / ZONE_STEP_MS) * ZONE_STEP_MS);
  return !isSameDate(byMs) && beside < EXACT_MS && Math.abs(byMs) < LARGEST_ZONE_MS + EXACT_MS;
}

/** How many builds such shifts hold. */
export const countBuilds = (shifts: readonly DateShift[]): number =>
  shifts.reduce((sum, { builds }) => sum + builds, 0);

/** True where these are most of all builds that were compared. */
export const areMost = (shifts: readonly DateShift[], all: readonly DateShift[]): boolean =>
  countBuilds(shifts) >= LEAST_MOVED && countBuilds(shifts) * 2 > countBuilds(all);

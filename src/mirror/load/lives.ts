/**
 * A service may give an id again: to the next build, where the newest one was deleted and its database began anew, or to many,
 * where it was restored from a backup. That is another life of the id (`docs/builds.md`, "Lives"). A record whose date or project
 * differs from that of the stored one begins it.
 */
import { parseLocalTime } from "../../resources/local-time.ts";
import { statement, type TransactionSql } from "../../store/connection/sql.ts";
import { findDatesInChange } from "../../store/ledger/list-freshness.ts";
import type { ObservedRecord, StoredBuild } from "./compare-records.ts";
import { areMost, findDateShifts, isSameDate, isZoneShift } from "./date-shifts.ts";
import type { KnownKeys } from "./known-keys.ts";

const END_LIVES = statement("end_lives", import.meta.url);

/** True where the dates of a batch, or of the whole list, are in change because the zone is another one. */
export async function findZoneChange(
  tx: TransactionSql,
  observed: readonly ObservedRecord[],
): Promise<boolean> {
  const dates = observed.map(({ record }) => (record.columns.date ?? null) as string | null);
  const ids = observed.map(({ record }) => record.id);
  const shifts = await findDateShifts(tx, ids, dates);
  const zoned = shifts.filter(({ byMs }) => isZoneShift(byMs));
  if (zoned.length === 0) return false;
  return areMost(zoned, shifts) || (await findDatesInChange(tx)) !== null;
}

interface LifeFacts {
  keys: Pick<KnownKeys, "resolve">;
  /** See `findZoneChange`. */
  hasZoneChanged: boolean;
  /** The most milliseconds that a replica may be behind. */
  replicaLagMs: number;
}

/** `other`: the record is of another build than the stored one. `past`: it is, and the stored one came after it. */
export function judgeLife(
  { record, askedAt }: ObservedRecord,
  stored: StoredBuild,
  { keys, hasZoneChanged, replicaLagMs }: LifeFacts,
): "same" | "other" | "past" {
  const reference = record.references.find(({ field }) => field === "project");
  const projectId = reference ? keys.resolve(reference.target) : null;
  const byMs = shiftOf(record.columns.date, stored.date);
  const hasDateOf = byMs === null || isSameDate(byMs) || (hasZoneChanged && isZoneShift(byMs));
  const isOfProject = projectId === null || stored.projectId === null || projectId === stored.projectId;
  if (hasDateOf && isOfProject) return "same";
  // Of two builds the one with the later date is the later one, unless it was not there yet when this reply was made.
  const isBefore = Date.parse(askedAt) - replicaLagMs <= Date.parse(stored.firstSeenAt);
  return isBefore && (byMs ?? 0) <= 0 ? "past" : "other";
}

/** In milliseconds. Null where one of the two has no date that could be read. */
function shiftOf(date: unknown, stored: string | null): number | null {
  const [shown, known] = [date, stored].map((one) => (typeof one === "string" ? parseLocalTime(one) : null));
  return shown && known ? Number(shown.microseconds - known.microseconds) / 1000 : null;
}

/** Ends the lives of builds before the rows of the next ones are written. Safe to repeat. */
export async function endLives(tx: TransactionSql, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await END_LIVES(tx, { ids });
}

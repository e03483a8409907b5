import { type Sql, withTransaction } from "../../store/connection/sql.ts";
import { findDatesInChange } from "../../store/ledger/list-freshness.ts";
import { areMost, countBuilds, findDateShifts, isSameDate, isZoneShift } from "../load/date-shifts.ts";
import { recordDrift } from "../load/record-drift.ts";
import type { RunParts } from "../load/run-parts.ts";
import { type FetchedPage, shownDates } from "../walk/page.ts";
import { namesZone } from "../walk/read-date.ts";

/** Most of the known builds of a page have another date there than is stored. */
export interface MovedDates {
  /** By how many milliseconds nearly all of them moved, where it is one amount: the service has changed its zone. Else null. */
  byMs: number | null;
  /** Most of these moved by a second or more. By less, the dates are only written in another way. */
  isFar: boolean;
  /** The dates name their zone, so they move where `DOCMIRROR_SOURCE_TIMEZONE` is set anew. */
  isZoned: boolean;
}

/**
 * Compares the dates of a page with the stored ones. Null where most have not moved: a date of another build, whose id was given
 * again, is no moved one (`date-shifts.ts`). Call it before the page is stored.
 */
export async function findMovedDates(sql: Sql, page: FetchedPage): Promise<MovedDates | null> {
  const { ids, records } = page;
  const dates = shownDates(page);
  if (!dates || dates.length !== ids.length) return null;
  const shifts = await findDateShifts(sql, ids, dates);
  const far = shifts.filter(({ byMs }) => isZoneShift(byMs));
  const moved = [...far, ...shifts.filter(({ byMs }) => byMs !== 0 && isSameDate(byMs))];
  if (!areMost(moved, shifts)) return null;
  const count = countBuilds(moved);
  const usual = moved.reduce((most, one) => (one.builds > most.builds ? one : most));
  const byMs = usual.builds >= 0.9 * count ? usual.byMs : null;
  const isZoned = records?.some((record) => namesZone((record as { date?: unknown }).date)) ?? false;
  return { byMs, isFar: countBuilds(far) * 2 > count, isZoned };
}

/** The same for the first page of a list. Notes that dates are in change: each sync is full until every build was read since. */
export async function noteMovedDates(
  { sql, patience, runId, startedAt }: RunParts,
  page: FetchedPage,
): Promise<MovedDates | null> {
  const moved = await patience("compare dates", () => findMovedDates(sql, page));
  if (!moved?.isFar) return moved;
  const observedAt = startedAt.toISOString();
  const detail = `moved ${moved.byMs === null ? "in many ways" : hoursOf(moved.byMs)} at ${observedAt}`;
  await patience("note moved dates", () =>
    withTransaction(sql, async (tx) => {
      if ((await findDatesInChange(tx)) !== null) return;
      const drift = [{ field: "date", kind: "type_changed" as const, detail }];
      await recordDrift(tx, { resource: "build", runId, observedAt }, drift);
    }),
  );
  return moved;
}

const hoursOf = (byMs: number) => `by ${Math.abs(byMs) / 3_600_000} h ${byMs > 0 ? "forward" : "back"}`;

export function describeMove({ byMs, isZoned }: MovedDates): string {
  const what = `the dates of its builds moved ${hoursOf(Number(byMs))}`;
  return isZoned
    ? `${what}: DOCMIRROR_SOURCE_TIMEZONE has another value than before`
    : `${what}: the service has changed its time zone; set DOCMIRROR_SOURCE_TIMEZONE (\`docmirror doctor\` names the zones that fit)`;
}

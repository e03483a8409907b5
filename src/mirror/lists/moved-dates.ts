import { type Sql, statement, withTransaction } from "../../store/connection/sql.ts";
import { findDatesInChange } from "../../store/ledger/list-freshness.ts";
import { recordDrift } from "../load/record-drift.ts";
import type { RunParts } from "../load/run-parts.ts";
import { type FetchedPage, shownDates } from "../walk/page.ts";
import { namesZone } from "../walk/read-date.ts";

type Moves = { known: number; moved: number; far: number; alike: number; by: number | null };

const MOVED_DATES = statement<Moves>("moved_dates", import.meta.url);

/** Fewer may have been corrected one by one. */
const LEAST_MOVED = 3;

/** Most of the known builds of a page have another date there than is stored. */
export interface MovedDates {
  /** By how many milliseconds nearly all of them moved, where it is one amount: the service has changed its zone. Else null. */
  byMs: number | null;
  /** Most of these moved by a second or more. By less, the dates are only written in another way. */
  isFar: boolean;
  /** The dates name their zone, so they move where `DOCMIRROR_SOURCE_TIMEZONE` is set anew. */
  isZoned: boolean;
}

/** Compares the dates of a page with the stored ones. Null where most are the same. Call it before the page is stored. */
export async function findMovedDates(sql: Sql, page: FetchedPage): Promise<MovedDates | null> {
  const { ids, records } = page;
  const dates = shownDates(page);
  if (!dates || dates.length !== ids.length) return null;
  const [row] = await MOVED_DATES(sql, { ids, dates });
  if (!row || row.moved < LEAST_MOVED || row.moved * 2 <= row.known) return null;
  const isOne = row.alike >= 0.9 * row.moved;
  const isZoned = records?.some((record) => namesZone((record as { date?: unknown }).date)) ?? false;
  return { byMs: isOne ? row.by : null, isFar: row.far * 2 > row.moved, isZoned };
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

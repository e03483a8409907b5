import { type Sql, withTransaction } from "../../store/connection/sql.ts";
import { findDatesInChange } from "../../store/ledger/list-freshness.ts";
import { recordDrift } from "../load/record-drift.ts";
import type { RunParts } from "../load/run-parts.ts";
import { datesOf, type FetchedPage } from "../walk/page.ts";
import { namesZone } from "../walk/read-date.ts";

/** Fewer may have been corrected one by one. */
const LEAST_MOVED = 3;

/** How the dates that a page shows differ from those that are stored for the same builds. */
export interface MovedDates {
  /** Whether most of the known builds have another date here. */
  isMoved: boolean;
  /** By how many milliseconds nearly all of them moved, where it is one amount: the service has changed its zone. Else null. */
  byMs: number | null;
  /** Whether most of these moved by a second or more: by less, the dates are only written in another way. */
  isFar: boolean;
  /** Whether the dates name their zone: then they move where `DOCMIRROR_SOURCE_TIMEZONE` is set anew. */
  isZoned: boolean;
}

const UNMOVED: MovedDates = { isMoved: false, byMs: null, isFar: false, isZoned: false };

/** Compares the dates of a page with the stored ones. Call it before the page is stored. */
export async function findMovedDates(sql: Sql, { ids, records }: FetchedPage): Promise<MovedDates> {
  const dates = records && datesOf(records);
  if (!dates || dates.length !== ids.length) return UNMOVED;
  const [row] = await sql<{ known: number; moved: number; far: number; alike: number; by: number | null }[]>`
    with build as (
      select extract(epoch from shown.date - builds.date)::float8 * 1000 as by
      from unnest(${ids}::text[], ${dates}::text[]::timestamp[]) as shown (id, date)
      join mirror.builds on builds.id = shown.id and builds.date is not null and deleted_at is null
    ), usual as (select mode() within group (order by by) filter (where by <> 0) as by from build)
    select count(*) as known, count(*) filter (where build.by <> 0) as moved,
      count(*) filter (where abs(build.by) >= 1000) as far, count(*) filter (where build.by = usual.by) as alike, max(usual.by) as by
    from build cross join usual`;
  if (!row || row.moved < LEAST_MOVED || row.moved * 2 <= row.known) return UNMOVED;
  const isOne = row.alike >= 0.9 * row.moved;
  const isZoned = records.some((record) => namesZone((record as { date?: unknown }).date));
  return { isMoved: true, byMs: isOne ? row.by : null, isFar: row.far * 2 > row.moved, isZoned };
}

/** Notes, before a build gets its new date, that dates are in change. Each sync is full until every build was read since. */
export async function noteMovedDates(
  { sql, patience, runId, startedAt }: RunParts,
  { byMs, isFar }: MovedDates,
): Promise<void> {
  if (!isFar) return;
  const observedAt = startedAt.toISOString();
  const detail = `moved ${byMs === null ? "in many ways" : hoursOf(byMs)} at ${observedAt}`;
  await patience("note moved dates", () =>
    withTransaction(sql, async (tx) => {
      if ((await findDatesInChange(tx)) !== null) return;
      const drift = [{ field: "date", kind: "type_changed" as const, detail }];
      await recordDrift(tx, { resource: "build", runId, observedAt }, drift);
    }),
  );
}

const hoursOf = (byMs: number) => `by ${Math.abs(byMs) / 3_600_000} h ${byMs > 0 ? "forward" : "back"}`;

export function describeMove({ byMs, isZoned }: MovedDates): string {
  const what = `the dates of its builds moved ${hoursOf(Number(byMs))}`;
  return isZoned
    ? `${what}: DOCMIRROR_SOURCE_TIMEZONE has another value than before`
    : `${what}: the service has changed its time zone; set DOCMIRROR_SOURCE_TIMEZONE (\`docmirror doctor\` names the zones that fit)`;
}

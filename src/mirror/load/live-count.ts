import type { Resource } from "../../resources/resources.ts";
import { type AnySql, oneRow, type Sql, statement, type TransactionSql } from "../../store/connection/sql.ts";
import type { DateRange } from "../walk/bisection.ts";
import { recordStatement } from "./tables.ts";

const COUNT_ROWS = recordStatement<{ live: number }>("live/count_rows", import.meta.url);
const COUNT_FIRST = recordStatement<{ live: number }>("live/count_first", import.meta.url);
const COUNT_LISTED = recordStatement<Omit<ListedCounts, "shown"> & { live: number | null }>(
  "live/count_listed",
  import.meta.url,
);
const COUNT_SHOWN_IN = statement<{ records: number }>("live/count_shown_in", import.meta.url, {
  isPlannedEachTime: true,
});
const SOME_SHOWN = recordStatement<{ id: string }>("live/some_shown", import.meta.url);

/** True for a list that is read at its head. Counting its records must not read every row. */
export const isCounted = (resource: Resource) => resource === "build";

/** Changes the count of live records, in the transaction that adds, restores or retires them. */
export async function addLive(tx: TransactionSql, resource: Resource, records: number): Promise<void> {
  if (records === 0 || !isCounted(resource)) return;
  await tx`update sync.lists set live = live + ${records} where resource = ${resource}`;
}

/** Sets the count, in the transaction that ends a whole walk, which has read every row. */
export async function setLive(tx: TransactionSql, resource: Resource, records: number): Promise<void> {
  if (!isCounted(resource)) return;
  await tx`
    insert into sync.lists (resource, live) values (${resource}, ${records})
    on conflict (resource) do update set live = excluded.live`;
}

/** Counts every row again, where rows were lost behind the back of the loader. */
export async function recountLive(tx: TransactionSql, resource: Resource): Promise<void> {
  if (!isCounted(resource)) return;
  // Behind the lock: a load that is under way changes the count when it has written its rows.
  await tx`select from sync.lists where resource = ${resource} for update`;
  await setLive(tx, resource, await countRows(tx, resource));
}

/** The records of a list, as they are compared with the count of the service. */
export interface ListedCounts {
  /** The live records that upstream's list should show. */
  shown: number;
  /** Those of them that are missing from the list while their deletion is held back. */
  held: number;
  /** The live records beside them that the list does not show any more. */
  hidden: number;
  /** The records that could not be stored: by their ids, and places without an id. */
  named: number;
  nameless: number;
}

/** Where a list is read at its head, only the first call counts every row. */
export async function countListed(sql: AnySql, resource: Resource): Promise<ListedCounts> {
  const { live, ...counts } = await oneRow(COUNT_LISTED(sql, resource, { isCounted: isCounted(resource) }));
  return { ...counts, shown: (live ?? (await countFirst(sql, resource))) - counts.hidden };
}

/** Those that the list shows of the builds of each range of dates, in the order of the ranges: held back ones are not there. */
export async function countShownIn(sql: Sql, ranges: readonly DateRange[]): Promise<number[]> {
  const rows = await COUNT_SHOWN_IN(sql, {
    resource: "build",
    newest: ranges.map(({ newest }) => newest),
    oldest: ranges.map(({ oldest }) => oldest ?? "-infinity"),
  });
  return rows.map(({ records }) => records);
}

/** The ids of some records that the newest whole walk of a list has shown, others in each run. */
export async function findSomeShown(sql: Sql, resource: Resource, runId: number): Promise<string[]> {
  const rows = await SOME_SHOWN(sql, resource, { runId });
  return rows.map(({ id }) => id);
}

/** Counts every row of a list whose count was not kept yet, and keeps it. */
async function countFirst(sql: AnySql, resource: Resource): Promise<number> {
  const [list] = await COUNT_FIRST(sql, resource);
  return list?.live ?? 0;
}

/** The number of live records that a walk of the list should see. */
export async function countRows(sql: AnySql, resource: Resource): Promise<number> {
  const [row] = await COUNT_ROWS(sql, resource);
  return row?.live ?? 0;
}

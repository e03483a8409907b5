import type { SQL } from "drizzle-orm";
import type { Resource } from "../../resources/resources.ts";
import { type AnySql, compose, composed, type Sql, type TransactionSql } from "../../store/connection/sql.ts";
import { builds, lists, missingRecords, openBuilds, projects } from "../../store/schema/index.ts";
import type { DateRange } from "../walk/bisection.ts";
import { unstoredRecords } from "./quarantine.ts";
import { RECORD_TABLES } from "./tables.ts";

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

/** The condition for records that a list should show. A project only seen embedded may be hidden there. */
export function isListed(resource: Resource): SQL {
  const isLive = compose`${RECORD_TABLES[resource].table.deleted_at} is null`;
  return resource === "project" ? compose`${isLive} and ${projects.listed}` : isLive;
}

/** The records of a list, as they are compared with the count of the service. */
export interface ListedCounts {
  /** The live records that upstream's list should show. */
  shown: number;
  /** Those of them that are missing from the list while their deletion is held back. */
  held: number;
  /** The records that could not be stored: by their ids, and places without an id. */
  named: number;
  nameless: number;
}

/** Where a list is read at its head, only the first call counts every row. */
export async function countListed(sql: AnySql, resource: Resource): Promise<ListedCounts> {
  const { table } = RECORD_TABLES[resource];
  const live = isCounted(resource)
    ? compose`select ${lists.live} from ${lists} where ${lists.resource} = ${resource}`
    : liveRows(resource);
  const countIn = (ids: SQL) =>
    compose`select count(*) from ${table} where ${isListed(resource)} and ${table.id} in (${ids})`;
  type Row = Omit<ListedCounts, "shown"> & { live: number | null; hidden: number };
  const [row] = await composed(sql)<Row>`
    select (${live}) as live, (${countIn(hiddenIds(resource))}) as hidden, (${countIn(heldIds(resource))}) as held, unstored.*
    from (${unstoredRecords(resource)}) as unstored`;
  if (!row) throw new Error("a count gave no row");
  const { live: kept, hidden, ...counts } = row;
  return { ...counts, shown: (kept ?? (await countFirst(sql, resource))) - hidden };
}

/** Those that the list shows of the builds of each range of dates, in the order of the ranges: held back ones are not there. */
export async function countShownIn(sql: Sql, ranges: readonly DateRange[]): Promise<number[]> {
  // By the key of the served list, which has an index.
  const isInside = compose`${isListed("build")} and coalesce(${builds.date}, 'infinity') between range.oldest and range.newest`;
  const rows = await composed(sql)<{ records: number }>`
    select (select count(*) from ${builds} where ${isInside})
      - (select count(*) from ${builds} where ${isInside} and ${builds.id} in (${hiddenIds("build")} union ${heldIds("build")})) as records
    from unnest(
      ${compose.param(ranges.map(({ newest }) => newest))}::text[]::timestamp[],
      ${compose.param(ranges.map(({ oldest }) => oldest ?? "-infinity"))}::text[]::timestamp[]
    ) with ordinality as range (newest, oldest, place)
    order by range.place`;
  return rows.map(({ records }) => records);
}

/** The ids of some records that the newest whole walk of a list has shown, others in each run. */
export async function findSomeShown(sql: Sql, resource: Resource, runId: number): Promise<string[]> {
  const { table } = RECORD_TABLES[resource];
  const rows = await composed(sql)<{ id: string }>`
    select ${table.id} from ${table}
    where ${isListed(resource)} and not exists (
      select from ${missingRecords} where ${missingRecords.resource} = ${resource} and ${missingRecords.record_id} = ${table.id})
    order by md5(${table.id} || ${runId}::bigint) limit 3`;
  return rows.map(({ id }) => id);
}

function hiddenIds(resource: Resource): SQL {
  return compose`
    select ${missingRecords.record_id} from ${missingRecords}
    where ${missingRecords.resource} = ${resource} and ${missingRecords.held_until} is null
    union select ${openBuilds.build_id} from ${openBuilds}
    where ${resource} = 'build' and ${openBuilds.vanished_at} is not null`;
}

function heldIds(resource: Resource): SQL {
  return compose`
    select ${missingRecords.record_id} from ${missingRecords}
    where ${missingRecords.resource} = ${resource} and ${missingRecords.held_until} is not null`;
}

/** Counts every row of a list whose count was not kept yet, and keeps it. */
async function countFirst(sql: AnySql, resource: Resource): Promise<number> {
  const [list] = await composed(sql)<{ live: number }>`
    insert into ${lists} (resource, live) select ${resource}, (${liveRows(resource)})
    on conflict (resource) do update set live = excluded.live
    returning ${lists.live}`;
  return list?.live ?? 0;
}

const liveRows = (resource: Resource) =>
  compose`select count(*) from ${RECORD_TABLES[resource].table} where ${isListed(resource)}`;

/** The number of live records that a walk of the list should see. */
export async function countRows(sql: AnySql, resource: Resource): Promise<number> {
  const [row] = await composed(sql)<{ live: number }>`select (${liveRows(resource)}) as live`;
  return row?.live ?? 0;
}

/**
 * Live records that the newest whole walk of their list did not show. A walk writes them down in the transaction that ends it, so that a
 * run which dies before it asked for their details leaves them to the next one. They stay until a walk shows them again or their details
 * say that they are gone.
 */
import type { Sql, TransactionSql } from "../db/connect.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import type { IdSet } from "../walk/id-set.ts";
import type { Resource } from "../wire/resources.ts";

/** Ids compared with what was seen at once: memory does not grow with the table. */
const WINDOW = 5000;
/** So many may go missing whatever the ratio says: 5 % of a list of 40 would be 2. */
const ALWAYS_ALLOWED = 20;

export interface MissingFacts {
  resource: Resource;
  /** Every id that the walk met. */
  seen: Pick<IdSet, "has" | "size">;
  runId: number;
  /** The run in which the walk began: an earlier one where it was resumed. */
  beganRunId: number;
  noticedAt: string;
  /** The share of the known records that may be missing, 0 to 1; 20 always may. */
  maxDeleteRatio: number;
  /** Lifts that bound. */
  allowMassDelete: boolean;
}

export interface NotedMissing {
  /** Live records of the list that are here. */
  live: number;
  /** Those among them that the walk met. */
  met: number;
  /** Live records that were here before the walk began. */
  known: number;
  /** Those among them that the walk did not meet. */
  missing: number;
  /** Why the new ones are not written down, when they are too many; else null. */
  held: string | null;
}

/**
 * Writes down which live records a whole walk did not meet, beside those that an earlier walk missed and this one did not meet either. Only
 * records that were here before the walk began count, and of projects only those that the list ever showed. When the new ones are
 * too many none of them is written down. To be
 * called in the transaction that ends a whole walk, and for no other walk. Throws when the walk met nothing though
 * something is known: such a walk is not whole.
 */
export async function noteMissing(tx: TransactionSql, facts: MissingFacts): Promise<NotedMissing> {
  const { resource, seen, beganRunId, runId, noticedAt, maxDeleteRatio } = facts;
  await forgetSeen(tx, resource, seen);
  const waiting = await countMissing(tx, [resource]);
  const counts = { live: 0, met: 0, known: 0, missing: 0 };
  for await (const rows of liveRows(tx, resource, beganRunId)) {
    if (seen.size === 0) throw new Error(`a walk of ${resource}s that met nothing was taken for whole`);
    counts.live += rows.length;
    for (const { id, isOlder } of rows) {
      const isMet = seen.has(id);
      if (isMet) counts.met += 1;
      if (isOlder) counts.known += 1;
      if (isOlder && !isMet) counts.missing += 1;
    }
  }
  const { known, missing } = counts;
  // What an earlier walk missed within its bounds, and no run has come to yet, is still to be asked for.
  const isHeld =
    missing - waiting > Math.max(ALWAYS_ALLOWED, maxDeleteRatio * known) && !facts.allowMassDelete;
  if (isHeld) {
    const share = `${(missing - waiting).toLocaleString("en-US")} of ${known.toLocaleString("en-US")} known ${resource}s`;
    const held =
      `${share} were not in the walk, more than DOCMIRROR_MAX_DELETE_RATIO ${maxDeleteRatio} allows: ` +
      "they are not deleted; sync --allow-mass-delete allows it for one run";
    return { ...counts, held };
  }
  if (missing === 0) return { ...counts, held: null };
  for await (const rows of liveRows(tx, resource, beganRunId)) {
    const unseen = rows.filter(({ id, isOlder }) => isOlder && !seen.has(id)).map(({ id }) => id);
    await tx`
      insert into sync.missing_records (resource, record_id, run_id, noticed_at)
      select ${resource}, id, ${runId}, ${noticedAt}::timestamptz from unnest(${unseen}::text[]) as unseen (id)
      on conflict (resource, record_id) do update set run_id = excluded.run_id`;
  }
  return { ...counts, held: null };
}

interface LiveRow {
  id: string;
  /** Whether it was here before the walk began. Runs tell, since a clock may be wrong. */
  isOlder: boolean;
}

/** The live records that the list should show, in windows. */
function liveRows(tx: TransactionSql, resource: Resource, beganRunId: number): AsyncGenerator<LiveRow[]> {
  return windows<LiveRow>(
    tx,
    `select id, first_seen_run_id < $2::bigint as "isOlder" from ${RECORD_TABLES[resource].name}
     where id > $1 and ${isListed(resource)}
     order by id`,
    beganRunId,
  );
}

/** Rows that a query gives by their ids, `$1` being the last id so far. A cursor would let no other statement pass meanwhile. */
async function* windows<Row extends { id: string }>(
  sql: Sql | TransactionSql,
  query: string,
  parameter: string | number,
): AsyncGenerator<Row[]> {
  let last = "";
  for (;;) {
    const rows = await sql.unsafe<Row[]>(`${query} limit ${WINDOW}`, [last, parameter]);
    if (rows.length > 0) yield rows;
    if (rows.length < WINDOW) return;
    last = rows.at(-1)?.id ?? last;
  }
}

/**
 * Takes back what an earlier walk missed and this one met. To be called when a walk ends that is not whole, at the head of a list
 * too; on most nights nothing is missing, and it is one look at an empty table.
 */
export async function forgetSeen(
  sql: Sql | TransactionSql,
  resource: Resource,
  seen: Pick<IdSet, "has">,
): Promise<void> {
  const missing = windows<{ id: string }>(
    sql,
    "select record_id as id from sync.missing_records where record_id > $1 and resource = $2 order by record_id",
    resource,
  );
  for await (const rows of missing) {
    const met = rows.map(({ id }) => id).filter((id) => seen.has(id));
    if (met.length > 0) await forgetMissing(sql, resource, met);
  }
}

/** Takes records off the list: they are still there. */
export async function forgetMissing(
  sql: Sql | TransactionSql,
  resource: Resource,
  ids: readonly string[],
): Promise<void> {
  await sql`
    delete from sync.missing_records where resource = ${resource} and record_id = any (${ids as string[]}::text[])`;
}

export interface MissingRecord {
  resource: Resource;
  id: string;
}

/**
 * The missing records to ask for first: as many of each resource while it has any. Within one resource those that were never asked for
 * come first, then those whose turn is longest ago. When those were asked for that a clock dated after `now` is not known: they count as
 * never asked for.
 */
export async function findMissing(
  sql: Sql,
  resources: readonly Resource[],
  { limit, now }: { limit: number; now: string },
): Promise<MissingRecord[]> {
  return sql<MissingRecord[]>`
    select resource, record_id as id
    from (
      select resource, record_id, row_number() over (
        partition by resource
        order by case when asked_at <= ${now}::timestamptz then asked_at end nulls first, noticed_at, record_id) as turn
      from sync.missing_records where resource = any (${resources as Resource[]}::text[])
    ) as waiting
    order by turn, resource limit ${limit}`;
}

export async function countMissing(
  sql: Sql | TransactionSql,
  resources: readonly Resource[],
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from sync.missing_records where resource = any (${resources as Resource[]}::text[])`;
  return row?.count ?? 0;
}

/**
 * Notes that records were asked for, whatever came, and so puts them behind those that were not. `found` ones answered; one that did so
 * once and no longer does is as unsettled as any other.
 */
export async function noteAsked(
  tx: TransactionSql,
  asked: readonly (MissingRecord & { found: boolean })[],
  at: string,
): Promise<void> {
  if (asked.length === 0) return;
  await tx`
    update sync.missing_records as missing set asked_at = ${at}::timestamptz,
      found_at = case when asked.found then ${at}::timestamptz end
    from jsonb_to_recordset(${JSON.stringify(asked)}::text::jsonb) as asked (resource text, id text, found boolean)
    where missing.resource = asked.resource and missing.record_id = asked.id`;
}

/** Missing records whose details have not said yet whether they are gone or hidden, or said nothing when they were last asked for. */
export async function countUnsettled(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from sync.missing_records where found_at is null`;
  return row?.count ?? 0;
}

/** Live records that a walk of the list should meet. */
export async function countKnown(sql: Sql, resource: Resource): Promise<number> {
  const [row] = await sql.unsafe<{ count: number }[]>(
    `select count(*) as count from ${RECORD_TABLES[resource].name} where ${isListed(resource)}`,
  );
  return row?.count ?? 0;
}

/** What tells the live records that a list should show: a project that was only ever embedded may be hidden there. */
function isListed(resource: Resource): string {
  return `deleted_at is null${resource === "project" ? " and listed" : ""}`;
}

/**
 * Records that a whole walk of their list did not meet, kept until their details have been asked for. A walk writes them down in the
 * transaction that ends it, so that a run which dies before it asked leaves them to the next one.
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
  /** When the walk began; of a resumed one in whichever run that was. */
  startedAt: string;
  runId: number;
  noticedAt: string;
  /** The share of the known records that may be missing, 0 to 1; 20 always may. */
  maxDeleteRatio: number;
  /** Lifts that bound. */
  allowMassDelete: boolean;
}

export interface NotedMissing {
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
  const { resource, seen, startedAt, runId, noticedAt, maxDeleteRatio } = facts;
  await forgetSeen(tx, resource, seen);
  const waiting = await countMissing(tx, [resource]);
  let known = 0;
  let missing = 0;
  for await (const ids of liveIds(tx, resource, startedAt)) {
    if (seen.size === 0) throw new Error(`a walk of ${resource}s that met nothing was taken for whole`);
    known += ids.length;
    missing += ids.filter((id) => !seen.has(id)).length;
  }
  // What an earlier walk missed within its bounds, and no run has come to yet, is still to be asked for.
  const isHeld =
    missing - waiting > Math.max(ALWAYS_ALLOWED, maxDeleteRatio * known) && !facts.allowMassDelete;
  if (isHeld) {
    const counts = `${(missing - waiting).toLocaleString("en-US")} of ${known.toLocaleString("en-US")} known ${resource}s`;
    const held =
      `${counts} were not in the walk, more than DOCMIRROR_MAX_DELETE_RATIO ${maxDeleteRatio} allows: ` +
      "they are not deleted; sync --allow-mass-delete allows it for one run";
    return { known, missing, held };
  }
  if (missing === 0) return { known, missing, held: null };
  for await (const ids of liveIds(tx, resource, startedAt)) {
    await tx`
      insert into sync.missing_records (resource, record_id, run_id, noticed_at)
      select ${resource}, id, ${runId}, ${noticedAt}::timestamptz
      from unnest(${ids.filter((id) => !seen.has(id))}::text[]) as unseen (id)
      on conflict (resource, record_id) do update set run_id = excluded.run_id`;
  }
  return { known, missing, held: null };
}

/** The ids of the live records that were here before `before`, in windows. */
function liveIds(tx: TransactionSql, resource: Resource, before: string): AsyncGenerator<string[]> {
  return windows(
    tx,
    `select id from ${RECORD_TABLES[resource].name}
     where id > $1 and first_seen_at < $2::timestamptz and ${isListed(resource)}
     order by id`,
    before,
  );
}

/** Ids that a query gives in their order, `$1` being the last id so far. A cursor would let no other statement pass meanwhile. */
async function* windows(
  sql: Sql | TransactionSql,
  query: string,
  parameter: string,
): AsyncGenerator<string[]> {
  let last = "";
  for (;;) {
    const rows = await sql.unsafe<{ id: string }[]>(`${query} limit ${WINDOW}`, [last, parameter]);
    if (rows.length > 0) yield rows.map(({ id }) => id);
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
  const missing = windows(
    sql,
    "select record_id as id from sync.missing_records where record_id > $1 and resource = $2 order by record_id",
    resource,
  );
  for await (const ids of missing) {
    const met = ids.filter((id) => seen.has(id));
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
 * The missing records to ask for first: of each resource as many as of the others while it has any; within one those never asked
 * for, then those whose asking is longest ago.
 */
export async function findMissing(
  sql: Sql,
  resources: readonly Resource[],
  limit: number,
): Promise<MissingRecord[]> {
  return sql<MissingRecord[]>`
    select resource, record_id as id
    from (
      select resource, record_id, row_number() over (
        partition by resource order by asked_at nulls first, noticed_at, record_id) as turn
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

/** Puts records that were asked for in vain behind those that were not asked for yet. */
export async function noteAsked(
  tx: TransactionSql,
  asked: readonly MissingRecord[],
  at: string,
): Promise<void> {
  await tx`
    update sync.missing_records as missing set asked_at = ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(asked)}::text::jsonb) as asked (resource text, id text)
    where missing.resource = asked.resource and missing.record_id = asked.id`;
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

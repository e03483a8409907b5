import type { Clock } from "../clock.ts";
import { connect, type Sql } from "../db/connect.ts";
import { acquireRunLock } from "../db/run-lock.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { createKnownKeys } from "../load/known-keys.ts";
import { resolveReferences } from "../load/resolve-references.ts";
import { resolveSuperseded } from "../load/resolve-superseded.ts";
import { type QuarantinedRecord, type RetryOutcome, retryRecord } from "../load/retry-record.ts";
import type { Logger } from "../log.ts";
import { createIdSet } from "../walk/id-set.ts";
import type { Resource } from "../wire/resources.ts";

export interface RetryOptions {
  settings: { databaseUrl: string; baseUrl: URL; sourceTimezone: string };
  /** Null: all. */
  resource: Resource | null;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}

/** What became of the records that were in quarantine; `holes` are places in lists, for which upstream has to be asked. */
export type RetryCounts = Record<RetryOutcome | "holes", number>;

/**
 * Tries every record in quarantine again, oldest first, one at a time: a payload may be as long as a reply. Nothing else may write
 * meanwhile: it holds the run lock. Throws `LockedError` or `StoreError`; what was resolved before stays so.
 */
export async function retryQuarantine(options: RetryOptions): Promise<RetryCounts> {
  const { settings, clock, log, signal } = options;
  const resource = options.resource;
  const lock = await acquireRunLock(settings.databaseUrl, { outlastWatch: { clock, signal } });
  const sql = connect(settings.databaseUrl, { applicationName: "docmirror quarantine", max: 4 });
  try {
    return await withStoreErrors("try the quarantine again", async () => {
      const { baseUrl, sourceTimezone } = settings;
      const keys = createKnownKeys(sql, createIdSet);
      await keys.prepare([]);
      const at = clock.now().toISOString();
      const facts = { keys, baseUrl, sourceTimezone, at };
      const counts: RetryCounts = { stored: 0, superseded: 0, refused: 0, holes: 0 };
      counts.superseded = await resolveSuperseded(sql, at, resource);
      for (let row = await findNext(sql, resource, 0); row; row = await findNext(sql, resource, row.id)) {
        signal.throwIfAborted();
        const outcome = await retryRecord(sql, row, facts);
        counts[outcome] += 1;
        log.debug({ id: row.id, resource: row.resource, outcome }, "record from quarantine tried again");
      }
      if (counts.stored > 0) await resolveReferences(sql);
      counts.holes = await countHoles(sql, resource);
      return counts;
    });
  } finally {
    await sql.end({ timeout: 5 });
    await lock.release();
  }
}

async function findNext(
  sql: Sql,
  resource: Resource | null,
  after: number,
): Promise<QuarantinedRecord | null> {
  const [row] = await sql<QuarantinedRecord[]>`
    select quarantine.id, run_id as "runId", resource, record_id as "recordId", payload, request, created_at as "createdAt",
      least(run.started_at, created_at) as "askedAt",
      case when clock_ahead_min_ms is not null then
        jsonb_build_object('minMs', clock_ahead_min_ms, 'maxMs', clock_ahead_max_ms)
      end as "clockAhead"
    from sync.quarantine
    left join sync.runs as run on run.id = run_id
    where resolved_at is null and list_offset is null and resource = coalesce(${resource}, resource)
      and quarantine.id > ${after}
    order by quarantine.id limit 1`;
  return row ?? null;
}

async function countHoles(sql: Sql, resource: Resource | null): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from sync.quarantine
    where resolved_at is null and list_offset is not null and resource = coalesce(${resource}, resource)`;
  return row?.count ?? 0;
}

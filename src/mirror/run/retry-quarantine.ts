import type { Resource } from "../../resources/resources.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { assertRunOpen } from "../../store/ledger/run-ledger.ts";
import { createKnownKeys } from "../load/known-keys.ts";
import { resolveReferences } from "../load/resolve-references.ts";
import { resolveSuperseded } from "../load/resolve-superseded.ts";
import { type QuarantinedRecord, type RetryOutcome, retryRecord } from "../load/retry-record.ts";
import { type OpenRun, type RunOptions, withRun } from "./with-run.ts";

/** `resource`: null for all. */
type RetryQuarantineOptions = RunOptions & { resource: Resource | null };

/** The results for the records in quarantine. `holes` are not retried here: the next sync requests them. */
export type RetryCounts = Record<RetryOutcome | "holes", number>;

/**
 * Retries every record in quarantine, oldest first, one at a time because a payload may be as long as a
 * reply. It is a run like any other, because it writes: under the run lock, with a row in the ledger. It
 * sends no requests to upstream. Throws `StoreError`, and `LockedError` when another run has the lock, or
 * took it since. Records resolved before stay resolved.
 */
export async function retryQuarantine(options: RetryQuarantineOptions): Promise<RetryCounts> {
  const counts: RetryCounts = { stored: 0, superseded: 0, refused: 0, holes: 0 };
  const { error } = await withRun(options, "quarantine", async (run) => {
    await retryAll(run, options, counts);
    run.ending.isPartial = counts.refused + counts.holes > 0;
  });
  if (error !== null) throw error;
  return counts;
}

async function retryAll(
  { sql, runId, clock, log, signal }: OpenRun,
  { settings, resource }: RetryQuarantineOptions,
  counts: RetryCounts,
): Promise<void> {
  const keys = createKnownKeys(sql);
  await keys.prepare([]);
  const at = clock.now().toISOString();
  const assertMayWrite = (tx: TransactionSql) => assertRunOpen(tx, runId);
  const { baseUrl, sourceTimezone } = settings;
  const facts = { keys, baseUrl, sourceTimezone, at, assertMayWrite };
  counts.superseded = await resolveSuperseded(sql, at, resource);
  for (let row = await findNext(sql, resource, 0); row; row = await findNext(sql, resource, row.id)) {
    signal.throwIfAborted();
    const outcome = await retryRecord(sql, row, facts);
    counts[outcome] += 1;
    log.debug({ id: row.id, resource: row.resource, outcome }, "retried a record from quarantine");
  }
  if (counts.stored > 0) await resolveReferences(sql);
  counts.holes = await countHoles(sql, resource);
}

async function findNext(sql: Sql, resource: Resource | null, after: number) {
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

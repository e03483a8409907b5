import type { Sql, TransactionSql } from "../db/connect.ts";
import { cleanJson, cleanText } from "../normalize/clean-text.ts";
import type { RejectedRecord } from "../normalize/normalized.ts";
import type { Resource } from "../wire/resources.ts";

export interface QuarantineFacts {
  resource: Resource;
  runId: number;
  observedAt: string;
  /** The path and query that gave the records. */
  request: string;
}

/** Keeps records that could not be stored, with their payload and the reason; one that is there already is not kept twice. */
export async function quarantineRecords(
  tx: TransactionSql,
  facts: QuarantineFacts,
  rejected: readonly RejectedRecord[],
): Promise<void> {
  for (const { recordId, reason, payload } of rejected) {
    const insert = (json: string) => (savepoint: TransactionSql) =>
      savepoint`
      insert into sync.quarantine (run_id, resource, record_id, reason, payload, request, created_at)
      select ${facts.runId}::bigint, ${facts.resource}, ${recordId}::text, ${cleanText(reason, { nul: 0 })},
        ${json}::text::jsonb, ${facts.request}, ${facts.observedAt}::timestamptz
      where not exists (
        select from sync.quarantine
        where resource = ${facts.resource} and record_id is not distinct from ${recordId}::text
          and resolved_at is null and payload = ${json}::text::jsonb)`;
    try {
      await tx.savepoint(insert(JSON.stringify(cleanJson(payload, { nul: 0 }) ?? null)));
    } catch {
      // JSON that Postgres cannot take as JSON (nested too deep, say) is kept as one text, cut where it is endless.
      await tx.savepoint(insert(JSON.stringify(cleanText(describe(payload), { nul: 0 }))));
    }
  }
}

/** A place in a list whose record upstream itself cannot render: it has no payload, and no id is known of it. */
export interface ListHole {
  resource: Resource;
  runId: number;
  /** The path and query that fails. */
  request: string;
  /** From 0. */
  offset: number;
  reason: string;
  observedAt: string;
}

/** Notes a hole in a list, once for each place while it is unresolved. */
export async function quarantineHole(tx: TransactionSql | Sql, hole: ListHole): Promise<void> {
  const { resource, runId, request, offset, observedAt } = hole;
  await tx`
    insert into sync.quarantine (run_id, resource, reason, request, created_at, list_offset)
    select ${runId}::bigint, ${resource}, ${cleanText(hole.reason, { nul: 0 })}, ${request},
      ${observedAt}::timestamptz, ${offset}::bigint
    where not exists (
      select from sync.quarantine
      where resource = ${resource} and resolved_at is null and list_offset = ${offset}::bigint)`;
}

/** Closes every hole of a list, which a later walk has read without any. Returns how many there were. */
export async function resolveHoles(
  tx: TransactionSql | Sql,
  resource: Resource,
  at: string,
): Promise<number> {
  const result = await tx`
    update sync.quarantine set resolved_at = ${at}::timestamptz
    where resource = ${resource} and resolved_at is null and list_offset is not null`;
  return result.count;
}

function describe(payload: unknown): string {
  try {
    return JSON.stringify(payload).slice(0, 1_000_000);
  } catch (error) {
    return `the payload cannot be written as JSON: ${String(error)}`;
  }
}

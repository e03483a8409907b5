import { alias } from "drizzle-orm/pg-core";
import { jsonText } from "../../base/json-text.ts";
import { foreignNumberIn } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { quarantine } from "../../store/schema/index.ts";
import { cleanJson, cleanText } from "../normalize/clean-text.ts";
import type { RejectedRecord } from "../normalize/record.ts";
import type { Hole } from "../walk/page.ts";
import { RECORD_TABLES } from "./tables.ts";

/** The most characters of a payload as JSON: Postgres allows 256 MiB, and each has four bytes at most. */
const MAX_JSON_LENGTH = 50_000_000;
/** The most characters of a payload stored as text. */
const MAX_TEXT_LENGTH = 1_000_000;

/** A record that cannot be stored, and where it came from. */
export interface RefusedRecord extends RejectedRecord {
  resource: Resource;
  /** The path and query that gave the record. */
  request: string;
  observedAt: string;
}

/** Stores refused records in quarantine, with payload and reason. None is stored twice. */
export async function quarantineRecords(
  tx: TransactionSql,
  runId: number,
  refused: readonly RefusedRecord[],
): Promise<void> {
  if (refused.length === 0) return;
  // One statement for all records, because each statement searches the whole quarantine of the resource.
  await tx`
    insert into sync.quarantine (run_id, resource, record_id, reason, payload, request, created_at)
    select ${runId}::bigint, resource, record_id, min(reason), payload, min(request), min(at::timestamptz)
    from (
      select *, json::jsonb as payload
      from unnest(
        ${refused.map(({ resource }) => resource)}::text[],
        ${refused.map(({ recordId }) => recordId)}::text[],
        ${refused.map(({ reason }) => cleanText(reason, { nul: 0 }))}::text[],
        ${refused.map(({ payload }) => toJson(payload))}::text[],
        ${refused.map(({ request }) => request)}::text[],
        ${refused.map(({ observedAt }) => observedAt)}::text[]
      ) with ordinality as refused (resource, record_id, reason, json, request, at, place)
    ) as refused
    where not exists (
      select from sync.quarantine as known
      where known.resolved_at is null and known.resource = refused.resource
        and known.payload = refused.payload and known.record_id is not distinct from refused.record_id)
    group by resource, record_id, payload
    order by min(place)`;
}

function toJson(payload: unknown): string {
  // As one text, which a retry reads like the reply, so that the number is not taken for a text.
  if (foreignNumberIn(payload) !== null) return toText(payload, MAX_JSON_LENGTH);
  try {
    const json = JSON.stringify(cleanJson(payload, { nul: 0 }) ?? null);
    return json.length > MAX_JSON_LENGTH ? toText(payload, MAX_TEXT_LENGTH) : json;
  } catch {
    return toText(payload, MAX_TEXT_LENGTH);
  }
}

/** A payload that is nested too deep or too long for JSON is stored as one text, cut when it is too long. */
function toText(payload: unknown, maxLength: number): string {
  return JSON.stringify(jsonText(payload, maxLength).toWellFormed());
}

/** Stores a hole in a list, once for each place while it is unresolved. It has no payload. */
export async function quarantineHole(
  tx: TransactionSql | Sql,
  hole: Hole & { resource: Resource; runId: number; observedAt: string },
): Promise<void> {
  const { resource, runId, request, offset, observedAt } = hole;
  await tx`
    insert into sync.quarantine (run_id, resource, reason, request, created_at, list_offset)
    select ${runId}::bigint, ${resource}, ${cleanText(hole.reason, { nul: 0 })}, ${request},
      ${observedAt}::timestamptz, ${offset}::bigint
    where not exists (
      select from sync.quarantine
      where resource = ${resource} and resolved_at is null and list_offset = ${offset}::bigint)`;
}

/** Resolves every hole of a list, after a walk without holes. Returns how many there were. */
export async function resolveHoles(tx: TransactionSql | Sql, resource: Resource, at: string) {
  const result = await tx`
    update sync.quarantine set resolved_at = ${at}::timestamptz
    where resource = ${resource} and resolved_at is null and list_offset is not null`;
  return result.count;
}

/** The records of a list in quarantine that have no row: those with an id, and the places without one. */
export async function countUnstored(sql: TransactionSql | Sql, resource: Resource): Promise<number> {
  const { table } = RECORD_TABLES[resource];
  const waiting = alias(quarantine, "waiting");
  const [row] = await runStatement<{ records: number }>(
    sql,
    compose`
      select count(distinct ${waiting.record_id}) + count(*) filter (where ${waiting.record_id} is null) as records
      from ${quarantine} as ${waiting}
      where ${waiting.resource} = ${resource} and ${waiting.resolved_at} is null
        and not exists (select from ${table} where ${table.id} = ${waiting.record_id})`,
  );
  return row?.records ?? 0;
}

/** The most records in quarantine whose dates are read. */
const MAX_DATES = 10_000;

/** The dates of builds in quarantine that have no row, as they came. The list shows these, and the mirror has none. */
export async function findUnstoredDates(sql: Sql): Promise<string[]> {
  const rows = await sql<{ date: string }[]>`
    select distinct on (record_id) left(payload ->> 'date', 40) as date from sync.quarantine as waiting
    where resource = 'build' and resolved_at is null and record_id is not null and payload ->> 'date' is not null
      and not exists (select from mirror.builds where id = record_id)
    order by record_id, id desc limit ${MAX_DATES}`;
  return rows.map(({ date }) => date);
}

import { jsonText } from "../../base/text.ts";
import { foreignNumberIn, toJson } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import { oneRow, type Sql, statement, type TransactionSql } from "../../store/connection/sql.ts";
import { isPassing, sqlstateOf, toStoreError } from "../../store/connection/store-errors.ts";
import { cleanJson, cleanText } from "../normalize/clean-text.ts";
import type { RejectedRecord } from "../normalize/page.ts";
import type { Hole } from "../walk/page.ts";
import { recordStatement } from "./tables.ts";

const QUARANTINE_RECORDS = statement("quarantine/store_records", import.meta.url);
const RESOLVE_SUPERSEDED = statement("quarantine/resolve_superseded", import.meta.url, {
  isPlannedEachTime: true,
});
const QUARANTINE_HOLE = statement("quarantine/store_hole", import.meta.url);
const FIND_REFUSED = recordStatement<Refused>("quarantine/find_refused", import.meta.url);
const LIST_QUARANTINE = statement<QuarantineRow>("quarantine/list", import.meta.url);
const UNSTORED_DATES = statement<{ date: string }>("quarantine/unstored_dates", import.meta.url);
const COUNT_QUARANTINE = statement<{ records: number; holes: number }>("quarantine/count", import.meta.url);

/** The most characters of a payload as JSON: Postgres allows 256 MiB, and each has four bytes at most. */
const MAX_JSON_LENGTH = 50_000_000;
const MAX_TEXT_LENGTH = 1_000_000;

/** A record that cannot be stored, and where it came from. */
export interface RefusedRecord extends RejectedRecord {
  resource: Resource;
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
  await QUARANTINE_RECORDS(tx, {
    runId,
    resources: refused.map(({ resource }) => resource),
    recordIds: refused.map(({ recordId }) => recordId),
    reasons: refused.map(({ reason }) => cleanText(reason, { nul: 0 })),
    payloads: refused.map(({ payload }) => payloadText(payload)),
    requests: refused.map(({ request }) => request),
    moments: refused.map(({ observedAt }) => observedAt),
  });
}

function payloadText(payload: unknown): string {
  // As one text, which a retry reads like the reply, so that the number is not taken for a text.
  if (foreignNumberIn(payload) !== null) return toText(payload, MAX_JSON_LENGTH);
  try {
    const json = toJson(cleanJson(payload, { nul: 0 }) ?? null);
    return json.length > MAX_JSON_LENGTH ? toText(payload, MAX_TEXT_LENGTH) : json;
  } catch {
    return toText(payload, MAX_TEXT_LENGTH);
  }
}

/** One text, cut when it is too long, for what is nested too deep or too long for JSON. */
function toText(payload: unknown, maxLength: number): string {
  return JSON.stringify(jsonText(payload, maxLength).toWellFormed());
}

/** Stores a hole in a list, once for each place while it is unresolved. It has no payload. */
export async function quarantineHole(
  tx: TransactionSql | Sql,
  hole: Hole & { resource: Resource; runId: number; observedAt: string },
): Promise<void> {
  const { resource, runId, request, offset, observedAt } = hole;
  await QUARANTINE_HOLE(tx, {
    runId,
    resource,
    reason: cleanText(hole.reason, { nul: 0 }),
    request,
    observedAt,
    offset,
  });
}

/** Resolves every hole of a list, after a walk without holes. Returns how many there were. */
export async function resolveHoles(tx: TransactionSql | Sql, resource: Resource, at: string) {
  const result = await tx`
    update sync.quarantine set resolved_at = ${at}::timestamptz
    where resource = ${resource} and resolved_at is null and list_offset is not null`;
  return result.count;
}

interface Refused {
  rowId: number;
  runId: number;
  recordId: string;
  /** The name by which a walk knows a record of another resource (`placeId` of a page); else the id. */
  placeId: string;
}

/** The records that a page of a list showed, that could not be stored, and that have no row. */
async function findRefused(tx: TransactionSql, resource: Resource): Promise<readonly Refused[]> {
  return FIND_REFUSED(tx, resource);
}

/** The records that a walk saw and that were refused. */
export async function countRefused(
  tx: TransactionSql,
  resource: Resource,
  seen: { has(id: string): boolean },
): Promise<number> {
  const refused = new Map((await findRefused(tx, resource)).map((one) => [one.recordId, one.placeId]));
  return [...refused].filter((ids) => ids.some((id) => seen.has(id))).length;
}

/** Resolves the records that a list showed in an earlier run, and that a whole walk of it did not show any more. */
export async function resolveUnseen(
  tx: TransactionSql,
  resource: Resource,
  { seen, beganRunId, at }: { seen: { has(id: string): boolean }; beganRunId: number; at: string },
): Promise<void> {
  const refused = await findRefused(tx, resource);
  const gone = refused
    .filter(({ runId, recordId, placeId }) => runId < beganRunId && !seen.has(recordId) && !seen.has(placeId))
    .map(({ rowId }) => rowId);
  if (gone.length > 0)
    await tx`update sync.quarantine set resolved_at = ${at}::timestamptz where id = any (${gone}::bigint[])`;
}

const MAX_DATES = 10_000;

/** The dates of builds in quarantine that have no row, as they came. The list shows these, and the mirror has none. */
export async function findUnstoredDates(sql: Sql): Promise<string[]> {
  const rows = await UNSTORED_DATES(sql, { most: MAX_DATES });
  return rows.map(({ date }) => date);
}

/** True where data caused a failure: bad values (22), constraints (23), limits (54), a failed COPY (25P02). */
export function isDataFault(error: unknown): boolean {
  if (isPassing(error)) return false;
  return /^(22|23|54|25P02)/.test(sqlstateOf(error) ?? "");
}

export function refusalOf(error: unknown, resource: Resource, id: string): string {
  const cause = toStoreError(error, `store ${resource} ${id}`);
  return cause instanceof Error ? cause.message : String(cause);
}

export interface QuarantineRow {
  id: number;
  resource: Resource;
  record_id: string | null;
  reason: string;
  request: string | null;
  run_id: number;
  created_at: string;
  resolved_at: string | null;
  /** The place of a hole in its list. A hole has no payload. */
  list_offset: number | null;
  /** JSON, cut to `payloadLength` characters unless that is null. Null when there is no payload. */
  payload: string | null;
}

/** `all`: resolved ones too. */
export type QuarantineFilter = { resource: Resource | null; all: boolean };

/** The quarantine, newest first. It reads one row at a time, because a payload may be as long as a reply. */
export async function* listQuarantine(
  sql: Sql,
  { resource, all }: QuarantineFilter,
  { limit, payloadLength }: { limit: number; payloadLength: number | null },
): AsyncGenerator<QuarantineRow> {
  const rows = LIST_QUARANTINE(sql, { payloadLength, all, resource, limit });
  for await (const batch of rows.cursor(1)) yield* batch;
}

export async function countQuarantine(sql: Sql, { resource, all }: QuarantineFilter) {
  return oneRow(COUNT_QUARANTINE(sql, { all, resource }));
}

/** Resolves records whose row was written since, or that a later page without a bad record lists. Safe to repeat. */
export async function resolveSuperseded(sql: Sql, at: string, resource: Resource | null = null) {
  const { count } = await RESOLVE_SUPERSEDED(sql, { at, resource });
  return count;
}

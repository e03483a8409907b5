import { parseJson } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { withTransaction } from "../../store/connection/transaction.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import { cleanText } from "../normalize/clean-text.ts";
import { normalizePage } from "../normalize/page.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import { isDataFault, refusalOf } from "./data-fault.ts";
import type { KnownKeys } from "./known-keys.ts";
import { type LoadFacts, loadRecords } from "./load-records.ts";
import { recordTransitions } from "./record-transitions.ts";
import { RECORD_TABLES } from "./tables.ts";

/** A record as it is in quarantine. */
export interface QuarantinedRecord {
  id: number;
  runId: number;
  resource: Resource;
  recordId: string | null;
  payload: unknown;
  request: string | null;
  createdAt: string;
  /** A moment not after the request was sent; null when its run was pruned since. */
  askedAt: string | null;
  /** How far the service's clock was ahead in that run; null when it is not known. */
  clockAhead: { minMs: number; maxMs: number } | null;
}

/** Longer than any request takes. */
const LONGEST_REQUEST_MS = 86_400_000;

export interface RetryFacts {
  keys: KnownKeys;
  baseUrl: URL;
  sourceTimezone: string;
  /** The moment to store as `resolved_at`. */
  at: string;
  /** Called at the end of each transaction. Throws, which rolls it back, when the run may no longer write. */
  assertMayWrite(tx: TransactionSql): Promise<void>;
}

/** `superseded`: the mirror holds the same or something newer, so the old payload is not loaded. */
export type RetryOutcome = "stored" | "superseded" | "refused";

/**
 * Loads a record from quarantine as if it had been stored when it was seen, and resolves its row in the same
 * transaction. A record that fails again stays, with its new reason. Throws only errors that the record did
 * not cause.
 */
export async function retryRecord(
  sql: Sql,
  row: QuarantinedRecord,
  facts: RetryFacts,
): Promise<RetryOutcome> {
  const sent = readPayload(row.payload);
  if (sent === CUT)
    return refuse(sql, row, "its payload was too long and was cut, so it cannot be loaded again");
  const page = normalizePage(row.resource, [sent], facts.baseUrl);
  const [record] = page.records;
  if (!record) return refuse(sql, row, page.rejected[0]?.reason ?? "the record cannot be read");
  if (row.recordId === null && CLEANED_ID.test(record.id)) {
    return refuse(sql, row, "the record has no id that can be stored");
  }
  try {
    const outcome = await withTransaction(sql, async (tx) => {
      const loaded = await load(tx, row, record, page.embeddedProjects, facts);
      await facts.assertMayWrite(tx);
      return loaded;
    });
    facts.keys.commit();
    return outcome;
  } catch (error) {
    facts.keys.rollback();
    if (!isDataFault(error)) throw error;
    return refuse(sql, row, refusalOf(error, row.resource, record.id));
  }
}

async function load(
  tx: TransactionSql,
  row: QuarantinedRecord,
  record: NormalizedRecord,
  embedded: readonly NormalizedRecord[],
  { keys, sourceTimezone, at }: RetryFacts,
): Promise<RetryOutcome> {
  const { resource, runId, createdAt: observedAt } = row;
  await tx`update sync.quarantine set resolved_at = ${at}::timestamptz where id = ${row.id}`;
  if (await isWrittenSince(tx, row, record.id)) return "superseded";

  const clockAhead = () => row.clockAhead;
  const facts: LoadFacts = { keys, runId, sourceTimezone, clockAhead, method: "insert" };
  // The row of a known project is at least as new as this copy.
  const newProjects = embedded.filter(({ id }) => keys.isNew("project", id));
  const { request } = row;
  const askedAt = row.askedAt ?? new Date(Date.parse(observedAt) - LONGEST_REQUEST_MS).toISOString();
  const seen = (one: NormalizedRecord) => ({ record: one, askedAt, observedAt, request });
  await loadRecords(tx, "project", newProjects.map(seen), "embedded", facts);
  const { counts, moving } = await loadRecords(tx, resource, [seen(record)], sourceOf(row), facts);
  await recordTransitions(tx, facts, moving);
  return counts.unchanged > counts.restored ? "superseded" : "stored";
}

async function refuse(sql: Sql, { id }: QuarantinedRecord, reason: string): Promise<RetryOutcome> {
  await sql`update sync.quarantine set reason = ${cleanText(reason, { nul: 0 })} where id = ${id}`;
  return "refused";
}

async function isWrittenSince(
  tx: TransactionSql,
  { resource, runId, createdAt }: QuarantinedRecord,
  id: string,
): Promise<boolean> {
  const { table } = RECORD_TABLES[resource];
  const rows = await runStatement(
    tx,
    compose`
      select 1 from ${table}
      where ${table.id} = ${id} and (
        (${table.changed_run_id}, ${table.changed_at}) >= (${runId}::bigint, ${createdAt}::timestamptz)
        or ${table.changed_run_id} = 0 and ${table.changed_at} >= ${createdAt}::timestamptz)`,
  );
  return rows.length > 0;
}

/** Where a project came from: its own list, its detail, or a record of another resource. */
function sourceOf({ resource, request }: QuarantinedRecord): ProjectSource {
  const [, of, key] = /\/api\/v1\/([^/?]+)\/?([^/?]*)/.exec(request ?? "") ?? [];
  if (of !== undefined && of !== resource) return "embedded";
  return key === "" ? "list" : "detail";
}

/** An id that `cleanJson` changed because it cannot be stored. It could be read as that of another record. */
const CLEANED_ID = /\uFFFD|^-?Infinity$/;

const CUT = Symbol("cut");

/** The record as sent. One that Postgres could not hold as JSON is stored as text, cut when too long. */
function readPayload(payload: unknown): unknown {
  if (typeof payload !== "string" || !payload.startsWith("{")) return payload;
  try {
    return parseJson(payload);
  } catch {
    return CUT;
  }
}

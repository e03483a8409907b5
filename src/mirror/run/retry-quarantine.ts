import { parseJson } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import {
  composed,
  type Sql,
  statement,
  type TransactionSql,
  withTransaction,
} from "../../store/connection/sql.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import { createKnownKeys, type KnownKeys } from "../load/known-keys.ts";
import { type LoadFacts, loadRecords } from "../load/load-records.ts";
import { countQuarantine, isDataFault, refusalOf, resolveSuperseded } from "../load/quarantine.ts";
import { recordTransitions } from "../load/record-transitions.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import { cleanText } from "../normalize/clean-text.ts";
import { normalizePage } from "../normalize/page.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import { resolveReferences } from "./repair-references.ts";
import { type RunOptions, withRun } from "./with-run.ts";

const NEXT_QUARANTINED = statement<QuarantinedRecord>("next_quarantined", import.meta.url);

/** `superseded`: the mirror holds the same or something newer, so the old payload is not loaded. */
type RetryOutcome = "stored" | "superseded" | "refused";

/** `holes` are not retried here: the next sync requests them. */
export type RetryCounts = Record<RetryOutcome | "holes", number>;

interface QuarantinedRecord {
  id: number;
  runId: number;
  resource: Resource;
  recordId: string | null;
  payload: string | null;
  request: string | null;
  createdAt: string;
  /** A moment not after the request was sent; null when its run was pruned since. */
  askedAt: string | null;
  /** By how much the service's clock was ahead in that run; null when it is not known. */
  clockAhead: { minMs: number; maxMs: number } | null;
}

interface RetryFacts {
  keys: KnownKeys;
  settings: Pick<RunOptions["settings"], "baseUrl" | "sourceTimezone" | "ignoredFields">;
  /** To store as `resolved_at`. */
  at: string;
  assertMayWrite(tx: TransactionSql): Promise<void>;
}

const LONGEST_REQUEST_MS = 86_400_000;

/** Oldest first, one by one: a payload may be as long as a reply. Throws `StoreError`, and `LockedError` for another run. */
export async function retryQuarantine(options: RunOptions & { resource: Resource | null }) {
  const counts: RetryCounts = { stored: 0, superseded: 0, refused: 0, holes: 0 };
  const { error } = await withRun(options, "quarantine", async (run) => {
    const { sql, clock, log, signal, assertMayWrite } = run;
    const { resource, settings } = options;
    const keys = createKnownKeys(sql);
    await keys.prepare([]);
    const at = clock.now().toISOString();
    const facts = { keys, settings, at, assertMayWrite };
    counts.superseded = await resolveSuperseded(sql, at, resource);
    for (let row = await findNext(sql, resource, 0); row; row = await findNext(sql, resource, row.id)) {
      signal.throwIfAborted();
      const outcome = await retryRecord(sql, row, facts);
      counts[outcome] += 1;
      log.debug({ id: row.id, resource: row.resource, outcome }, "retried a record from quarantine");
    }
    if (counts.stored > 0) await resolveReferences(sql);
    counts.holes = (await countQuarantine(sql, { resource, all: false })).holes;
    run.ending.isPartial = counts.refused + counts.holes > 0;
  });
  if (error !== null) throw error;
  return counts;
}

async function findNext(sql: Sql, resource: Resource | null, after: number) {
  const [row] = await NEXT_QUARANTINED(sql, { resource, after });
  return row ?? null;
}

/** Loads a record as of when it was seen, and resolves its row with it. Throws only errors that the record did not cause. */
async function retryRecord(sql: Sql, row: QuarantinedRecord, facts: RetryFacts): Promise<RetryOutcome> {
  const sent = readPayload(row.payload);
  if (sent === CUT)
    return refuse(sql, row, "its payload was too long and was cut, so it cannot be loaded again");
  const page = normalizePage(row.resource, [sent], facts.settings);
  const [record] = page.records;
  if (!record) return refuse(sql, row, page.rejected[0]?.reason ?? "the record cannot be read");
  if (row.recordId === null && CLEANED_ID.test(record.id))
    return refuse(sql, row, "the record has no id that can be stored");
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
  { keys, settings: { sourceTimezone, ignoredFields }, at }: RetryFacts,
): Promise<RetryOutcome> {
  const { resource, runId, createdAt: observedAt } = row;
  await tx`update sync.quarantine set resolved_at = ${at}::timestamptz where id = ${row.id}`;
  const { table } = RECORD_TABLES[resource];
  const written = await composed(tx)`
    select from ${table} where ${table.id} = ${record.id}
      and (${table.changed_run_id}, ${table.changed_at}) >= (${runId}::bigint, ${observedAt}::timestamptz)`;
  if (written.length > 0) return "superseded";

  const clockAhead = () => row.clockAhead;
  const facts: LoadFacts = { keys, runId, sourceTimezone, ignoredFields, clockAhead, method: "insert" };
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

/** The source of a project: its own list, its detail, or a record of another resource. */
function sourceOf({ resource, request }: QuarantinedRecord): ProjectSource {
  const [, of, key] = /\/api\/v1\/([^/?]+)\/?([^/?]*)/.exec(request ?? "") ?? [];
  if (of !== undefined && of !== resource) return "embedded";
  return key === "" ? "list" : "detail";
}

/** An id that `cleanJson` changed because it cannot be stored. It could be read as that of another record. */
const CLEANED_ID = /\uFFFD|^-?Infinity$/;

const CUT = Symbol("cut");

/** The record as sent. One that Postgres could not hold as JSON is stored as text, cut when too long. */
function readPayload(json: string | null): unknown {
  const payload = parseJson(json ?? "null", { isExact: true });
  if (typeof payload !== "string" || !payload.startsWith("{")) return payload;
  try {
    return parseJson(payload, { isExact: true });
  } catch {
    return CUT;
  }
}

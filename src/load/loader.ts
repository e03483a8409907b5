/**
 * The only writer of the mirrored tables. Pages come from several walks at once and are loaded one after another, each in one
 * transaction with whatever the caller writes alongside (its checkpoint): either all of it is there or nothing.
 *
 * A page that Postgres refuses is loaded again record by record, so that one bad record never costs the others; what cannot be
 * stored goes to `sync.quarantine` with its payload and Postgres' reason.
 */
import type { Sql, TransactionSql } from "../db/connect.ts";
import type { ProjectSource } from "../db/schema/projects.ts";
import { isPassing, sqlstateOf, toStoreError } from "../db/store-errors.ts";
import type { NormalizedRecord, RejectedRecord } from "../normalize/normalized.ts";
import { normalizePage } from "../normalize/page.ts";
import type { Resource } from "../wire/resources.ts";
import type { KnownKeys } from "./known-keys.ts";
import { type LoadCounts, type LoadFacts, loadRecords } from "./load-records.ts";
import { quarantineRecords } from "./quarantine.ts";
import type { TransitionFacts } from "./record-transitions.ts";

export interface LoadablePage {
  resource: Resource;
  records: readonly unknown[];
  /** The path and query that gave the records. */
  request: string;
  observedAt: Date;
  source: Exclude<ProjectSource, "embedded">;
}

export interface PageCounts extends LoadCounts {
  quarantined: number;
  replacedNul: number;
}

export interface LoaderOptions extends Omit<TransitionFacts, "observedAt"> {
  sql: Sql;
  keys: KnownKeys;
  baseUrl: URL;
  /** Nothing is written when set; the counts tell what would have been. @default false */
  dryRun?: boolean;
}

export interface Loader {
  /** Loads a page; `alongside` runs in the same transaction, after it. Throws `StoreError`. Safe to repeat. */
  load(
    page: LoadablePage,
    alongside?: (tx: TransactionSql, counts: PageCounts) => Promise<void>,
  ): Promise<PageCounts>;
}

export function createLoader(options: LoaderOptions): Loader {
  const { sql, keys } = options;
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time, in the order of asking. */
  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = last.then(task, task);
    last = turn.catch(() => {});
    return turn;
  }

  async function inTransaction<T>(body: (tx: TransactionSql) => Promise<T>): Promise<T> {
    try {
      const result = await sql.begin(async (tx) => {
        // A lost commit only costs reading a page again: the checkpoint is lost with its rows. The run's end waits for the disk.
        await tx`set local synchronous_commit = off`;
        return body(tx);
      });
      keys.commit();
      return result as T;
    } catch (error) {
      keys.rollback();
      throw error;
    }
  }

  return {
    async load(page, alongside) {
      const normalized = normalizePage(page.resource, page.records, options.baseUrl);
      const records = newestById(normalized.records, () => true);
      const embedded = newestById(normalized.embeddedProjects, isNotOlder);
      const facts: LoadFacts = { ...options, method: "copy", observedAt: page.observedAt.toISOString() };

      const loadAll = async (tx: TransactionSql): Promise<PageCounts> => {
        await loadRecords(tx, "project", embedded, "embedded", facts);
        const counts = await loadRecords(tx, page.resource, records, page.source, facts);
        return { ...counts, quarantined: 0, replacedNul: normalized.replacedNul };
      };
      const finish = async (tx: TransactionSql, counts: PageCounts, rejected: RejectedRecord[]) => {
        await quarantineRecords(
          tx,
          { ...page, runId: options.runId, observedAt: facts.observedAt },
          rejected,
        );
        const total = { ...counts, quarantined: counts.quarantined + rejected.length };
        await alongside?.(tx, total);
        // The last statement before the commit shows a failed COPY, which the stream itself does not.
        await tx`select 1`;
        return total;
      };

      return inTurn(async () => {
        try {
          return await inTransaction(async (tx) => finish(tx, await loadAll(tx), normalized.rejected));
        } catch (error) {
          if (!isDataFault(error)) throw toStoreError(error, `load a page of ${page.resource}s`);
        }
        try {
          return await inTransaction(async (tx) => {
            const oneByOne = await loadOneByOne(tx, page, records, embedded, { ...facts, method: "insert" });
            const counts = { ...oneByOne.counts, replacedNul: normalized.replacedNul };
            return finish(tx, counts, [...normalized.rejected, ...oneByOne.refused]);
          });
        } catch (error) {
          throw toStoreError(error, `load a page of ${page.resource}s record by record`);
        }
      });
    },
  };
}

/** The last of each id, unless `replaces` says that the earlier one stays. */
function newestById(
  records: readonly NormalizedRecord[],
  replaces: (later: NormalizedRecord, earlier: NormalizedRecord) => boolean,
): NormalizedRecord[] {
  const byId = new Map<string, NormalizedRecord>();
  for (const record of records) {
    const earlier = byId.get(record.id);
    if (!earlier || replaces(record, earlier)) byId.set(record.id, record);
  }
  return [...byId.values()];
}

function isNotOlder(later: NormalizedRecord, earlier: NormalizedRecord): boolean {
  return String(later.columns.modified_date ?? "") >= String(earlier.columns.modified_date ?? "");
}

/** Whether a failure lies in what was to be stored: bad values (22), constraints (23), limits (54), or a COPY's failure hidden behind 25P02. */
function isDataFault(error: unknown): boolean {
  if (isPassing(error)) return false;
  return /^(22|23|54|25P02)/.test(sqlstateOf(error) ?? "");
}

async function loadOneByOne(
  tx: TransactionSql,
  page: LoadablePage,
  records: readonly NormalizedRecord[],
  embedded: readonly NormalizedRecord[],
  facts: LoadFacts,
): Promise<{ counts: PageCounts; refused: RejectedRecord[] }> {
  const counts = {
    inserted: 0,
    updated: 0,
    unchanged: 0,
    restored: 0,
    transitions: 0,
    quarantined: 0,
    replacedNul: 0,
  };
  const refused: RejectedRecord[] = [];
  const payloads = payloadsById(page.records);
  const attempt = async (
    resource: Resource,
    record: NormalizedRecord,
    source: ProjectSource,
    payload: unknown,
  ) => {
    try {
      const one = await tx.savepoint((savepoint) =>
        loadRecords(savepoint, resource, [record], source, facts),
      );
      if (source === "embedded") return;
      for (const key of ["inserted", "updated", "unchanged", "restored", "transitions"] as const)
        counts[key] += one[key];
    } catch (error) {
      if (isPassing(error)) throw error;
      const reason = toStoreError(error, `store ${resource} ${record.id}`);
      refused.push({
        recordId: record.id,
        reason: reason instanceof Error ? reason.message : String(reason),
        payload,
      });
    }
  };
  for (const project of embedded)
    await attempt("project", project, "embedded", { id: project.id, ...project.columns });
  for (const record of records) await attempt(page.resource, record, page.source, payloads.get(record.id));
  return { counts, refused };
}

function payloadsById(records: readonly unknown[]): Map<string, unknown> {
  return new Map(records.map((record) => [String((record as { id?: unknown } | null)?.id), record]));
}

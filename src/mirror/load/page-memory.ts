import { alias } from "drizzle-orm/pg-core";
import type { Resource } from "../../resources/resources.ts";
import type { Sql, TransactionSql } from "../../store/connection/connect.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import { openBuilds, pages as pagesTable } from "../../store/schema/index.ts";
import { NORMALIZER_VERSION } from "../normalize/normalizer-version.ts";
import { RECORD_TABLES, recordsAs } from "./tables.ts";

/** The number of pages read with one query. */
const WINDOW = 32;

/** A page as it is remembered. `meta` is what the walk read from the envelope. */
export interface MemorizedPage<Meta> {
  request: string;
  /** Empty for a page that must be read again: a bad record, or another version of the normalizer. */
  bodyHash: string;
  meta: Meta;
  ids: string[];
}

export interface LoadedPage<Meta> extends MemorizedPage<Meta> {
  seq: number;
  /** When its reply arrived, as in `changed_at` of its records. */
  loadedAt: string;
}

/**
 * Remembers the pages of the newest full walk of a resource. A page with the same body is neither parsed nor
 * compared, and an interrupted walk finds here what it has seen.
 */
export interface PageMemory<Meta> {
  /**
   * Drops pages with a record that was written since (by a watch, a repair or a later page), or that is
   * deleted or vanished here: only a page whose records did not change may be skipped. Call it before a walk
   * recalls pages. Pages before `seq` stay.
   */
  forgetStale(seq: number): Promise<void>;
  recall(seq: number): Promise<MemorizedPage<Meta> | null>;
  /** Stores pages within the transaction that loads them. */
  store(tx: TransactionSql, pages: readonly LoadedPage<Meta>[]): Promise<void>;
  /** All pages before `seq`, in their order. */
  pagesBefore(seq: number): AsyncIterable<MemorizedPage<Meta>>;
  /** Drops pages that the finished walk did not reach. */
  forgetFrom(tx: TransactionSql, seq: number): Promise<void>;
}

export function createPageMemory<Meta>(sql: Sql, resource: Resource, runId: number): PageMemory<Meta> {
  const windows = new Map<number, Promise<Map<number, MemorizedPage<Meta>>>>();

  async function readWindow(index: number): Promise<Map<number, MemorizedPage<Meta>>> {
    const rows = await sql<(MemorizedPage<Meta> & { seq: number })[]>`
      select seq, request, meta, ids,
        case when normalizer_version = ${NORMALIZER_VERSION} then encode(body_hash, 'hex') else '' end as "bodyHash"
      from sync.pages
      where resource = ${resource} and seq >= ${index * WINDOW} and seq < ${(index + 1) * WINDOW}`;
    return new Map(rows.map((row) => [row.seq, row]));
  }

  return {
    async forgetStale(from) {
      const page = alias(pagesTable, "page");
      const record = recordsAs(resource, "record");
      await runStatement(
        sql,
        compose`
          delete from ${pagesTable} as ${page}
          where ${page.resource} = ${resource} and ${page.seq} >= ${from} and exists (
            select from unnest(${page.ids}) as listed (id)
            join ${RECORD_TABLES[resource].table} as ${record} on ${record.id} = listed.id
            where (${record.changed_run_id}, ${record.changed_at}) > (${page.run_id}, ${page.loaded_at})
              or ${record.deleted_at} is not null
              or ${page.resource} = 'build' and ${record.id} in (
                select ${openBuilds.build_id} from ${openBuilds} where ${openBuilds.vanished_at} is not null))`,
      );
    },
    async recall(seq) {
      const index = Math.floor(seq / WINDOW);
      let window = windows.get(index);
      if (!window) {
        window = readWindow(index);
        windows.set(index, window);
        windows.delete(index - 2);
      }
      return (await window).get(seq) ?? null;
    },
    async store(tx, pages) {
      const rows = pages.map(({ seq, request, bodyHash, meta, ids, loadedAt }) => ({
        seq,
        request,
        body_hash: `\\x${bodyHash}`,
        meta,
        ids,
        loaded_at: loadedAt,
      }));
      await tx`
        insert into sync.pages (resource, seq, request, body_hash, meta, ids, loaded_at, run_id, normalizer_version)
        select ${resource}, seq, request, body_hash, meta, ids, loaded_at, ${runId}::bigint, ${NORMALIZER_VERSION}::int
        from jsonb_populate_recordset(null::sync.pages, ${JSON.stringify(rows)}::text::jsonb)
        on conflict (resource, seq) do update set request = excluded.request, body_hash = excluded.body_hash,
          meta = excluded.meta, ids = excluded.ids, loaded_at = excluded.loaded_at, run_id = excluded.run_id,
          normalizer_version = excluded.normalizer_version`;
    },
    async *pagesBefore(seq) {
      // This reads by windows, not by a cursor. When the connection is lost between two batches, a cursor of
      // the driver ends as if it had read all rows.
      for (let from = 0; from < seq; from += WINDOW) {
        const window = await readWindow(from / WINDOW);
        for (const [at, page] of [...window].sort(([one], [other]) => one - other)) if (at < seq) yield page;
      }
    },
    async forgetFrom(tx, seq) {
      await tx`delete from sync.pages where resource = ${resource} and seq >= ${seq}`;
    },
  };
}

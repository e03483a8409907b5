import { alias } from "drizzle-orm/pg-core";
import type { Resource } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { openBuilds, pages as pagesTable } from "../../store/schema/index.ts";
import { PLANS } from "../normalize/record-plan.ts";
import type { RememberedPage } from "../walk/page.ts";
import { RECORD_TABLES, recordsAs } from "./tables.ts";

/** The number of pages read with one query. */
const WINDOW = 32;

/** A page to remember. Its `bodyHash` is empty when it must be read again, because it had a bad record. */
export interface LoadedPage extends RememberedPage {
  seq: number;
  /** When its reply arrived, as in `changed_at` of its records. */
  loadedAt: string;
}

export type PageMemory = ReturnType<typeof createPageMemory>;

/**
 * Remembers the pages of the newest full walk of a resource. A page with the same body is neither parsed nor
 * compared, and an interrupted walk finds here what it has seen.
 */
export function createPageMemory(sql: Sql, resource: Resource, runId: number) {
  const { pageReading } = PLANS[resource];
  const windows = new Map<number, Promise<Map<number, RememberedPage>>>();

  /** A page that was read in another way has no hash, so that it is read again. */
  async function readWindow(index: number): Promise<Map<number, RememberedPage>> {
    const rows = await sql<(RememberedPage & { seq: number })[]>`
      select seq, request, meta, ids,
        case when normalizer_version = ${pageReading} then encode(body_hash, 'hex') else '' end as "bodyHash"
      from sync.pages
      where resource = ${resource} and seq >= ${index * WINDOW} and seq < ${(index + 1) * WINDOW}`;
    return new Map(rows.map((row) => [row.seq, row]));
  }

  return {
    /**
     * Drops pages with a record that was written since (by a watch, a repair or a later page), or that is
     * deleted or vanished here: only a page whose records did not change may be skipped. Call it before a walk
     * recalls pages. Pages before `from` stay.
     */
    async forgetStale(from: number): Promise<void> {
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
    async recall(seq: number): Promise<RememberedPage | null> {
      const index = Math.floor(seq / WINDOW);
      let window = windows.get(index);
      if (!window) {
        window = readWindow(index);
        windows.set(index, window);
        windows.delete(index - 2);
      }
      return (await window).get(seq) ?? null;
    },
    /** Stores pages within the transaction that loads them. */
    async store(tx: TransactionSql, pages: readonly LoadedPage[]): Promise<void> {
      const rows = pages.map(({ seq, request, bodyHash, meta, ids, loadedAt }) => {
        return { seq, request, body_hash: `\\x${bodyHash}`, meta, ids, loaded_at: loadedAt };
      });
      await tx`
        insert into sync.pages (resource, seq, request, body_hash, meta, ids, loaded_at, run_id, normalizer_version)
        select ${resource}, seq, request, body_hash, meta, ids, loaded_at, ${runId}::bigint, ${pageReading}::int
        from jsonb_populate_recordset(null::sync.pages, ${JSON.stringify(rows)}::text::jsonb)
        on conflict (resource, seq) do update set request = excluded.request, body_hash = excluded.body_hash,
          meta = excluded.meta, ids = excluded.ids, loaded_at = excluded.loaded_at, run_id = excluded.run_id,
          normalizer_version = excluded.normalizer_version`;
    },
    /** All pages before `seq`, in their order. */
    async *pagesBefore(seq: number): AsyncGenerator<RememberedPage> {
      // By windows: when the connection is lost, a cursor of the driver ends as if it had read all rows.
      for (let from = 0; from < seq; from += WINDOW) {
        const window = await readWindow(from / WINDOW);
        for (const [at, page] of [...window].sort(([one], [other]) => one - other)) if (at < seq) yield page;
      }
    },
    /** Drops pages that the finished walk did not reach. */
    async forgetFrom(tx: TransactionSql, seq: number): Promise<void> {
      await tx`delete from sync.pages where resource = ${resource} and seq >= ${seq}`;
    },
  };
}

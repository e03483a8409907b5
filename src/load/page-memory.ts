import type { Sql, TransactionSql } from "../db/connect.ts";
import type { Resource } from "../wire/resources.ts";

/** Pages looked up with one query. */
const WINDOW = 32;

/** A page as it is remembered; `meta` is whatever the walk made of the envelope. */
export interface MemorizedPage<Meta> {
  request: string;
  bodyHash: string;
  meta: Meta;
  ids: string[];
}

/**
 * Remembers the pages of the newest full walk of a resource. A page whose body is still the same need be neither parsed nor compared,
 * and a walk that was interrupted learns from here what it had seen.
 */
export interface PageMemory<Meta> {
  /**
   * Drops every page of which a record was written by anyone else since (a watch, a repair, a later page), or is deleted here: only a
   * page whose records are as it left them may be skipped. To be called before a walk begins.
   */
  forgetStale(): Promise<void>;
  recall(seq: number): Promise<MemorizedPage<Meta> | null>;
  /** Writes a page within the transaction that loads it. */
  store(tx: TransactionSql, seq: number, page: MemorizedPage<Meta>, loadedAt: string): Promise<void>;
  /** The ids of all pages before `seq`, in batches. */
  idsBefore(seq: number): AsyncIterable<string[]>;
  /** Drops pages that the walk, now at its end, did not reach. */
  forgetFrom(seq: number): Promise<void>;
}

export function createPageMemory<Meta>(sql: Sql, resource: Resource): PageMemory<Meta> {
  const windows = new Map<number, Promise<Map<number, MemorizedPage<Meta>>>>();

  async function readWindow(index: number): Promise<Map<number, MemorizedPage<Meta>>> {
    const rows = await sql<(MemorizedPage<Meta> & { seq: number })[]>`
      select seq, request, encode(body_hash, 'hex') as "bodyHash", meta, ids
      from sync.pages
      where resource = ${resource} and seq >= ${index * WINDOW} and seq < ${(index + 1) * WINDOW}`;
    return new Map(rows.map((row) => [row.seq, row]));
  }

  return {
    async forgetStale() {
      await sql.unsafe(
        `delete from sync.pages as page
         where resource = $1 and exists (
           select from unnest(page.ids) as listed (id)
           join mirror.${resource}s as record using (id)
           where record.changed_at > page.loaded_at or record.deleted_at is not null)`,
        [resource],
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
    async store(tx, seq, page, loadedAt) {
      await tx`
        insert into sync.pages (resource, seq, request, body_hash, meta, ids, loaded_at)
        values (${resource}, ${seq}, ${page.request}, decode(${page.bodyHash}, 'hex'),
          ${JSON.stringify(page.meta)}::text::jsonb, ${page.ids}::text[], ${loadedAt}::timestamptz)
        on conflict (resource, seq) do update set request = excluded.request, body_hash = excluded.body_hash,
          meta = excluded.meta, ids = excluded.ids, loaded_at = excluded.loaded_at`;
    },
    async *idsBefore(seq) {
      const rows = sql<{ ids: string[] }[]>`
        select ids from sync.pages where resource = ${resource} and seq < ${seq} order by seq`;
      for await (const batch of rows.cursor(WINDOW)) for (const { ids } of batch) yield ids;
    },
    async forgetFrom(seq) {
      await sql`delete from sync.pages where resource = ${resource} and seq >= ${seq}`;
    },
  };
}

import { parsePageRequest } from "../../resources/page-request.ts";
import type { Resource } from "../../resources/resources.ts";
import {
  type AnySql,
  compose,
  piece,
  runStatement,
  type Sql,
  statement,
  type TransactionSql,
  withTransaction,
} from "../../store/connection/sql.ts";
import { PLANS } from "../normalize/record-plan.ts";
import type { RememberedPage } from "../walk/page.ts";
import type { Section } from "../walk/sections.ts";
import { recountLive } from "./live-count.ts";
import { RECORD_TABLES } from "./tables.ts";

const STALE_PAGES = piece("stale_pages", import.meta.url);
const FORGET_PAGES = piece("forget_pages", import.meta.url);
const STORE_PAGES = statement("store_pages", import.meta.url);
const REMEMBERED_PAGES = statement<RememberedPage & { resource: Resource }>(
  "remembered_pages",
  import.meta.url,
);

/** The number of pages read with one query, and held before and behind the newest one that came again. */
const WINDOW = 32;
/** The largest number of a page that its column holds. */
const LAST = 2 ** 31 - 1;

/** The pages of the newest full walk: the same ones are neither parsed nor compared, and an interrupted walk resumes. */
export interface PageMemory {
  /**
   * Drops the pages from place `from` to before `until` with a record that was written, deleted or vanished since, or that has no
   * row any more: they must be read. Call it before `recall`.
   */
  forgetStale(from: number, until?: number): Promise<void>;
  /** Stores pages within the transaction that loads them. An empty `bodyHash`: the page must be read again. */
  store(tx: TransactionSql, pages: readonly RememberedPage[]): Promise<void>;
  pagesBefore(seq: number): AsyncGenerator<RememberedPage>;
  /** Drops pages that the finished walk did not reach. */
  forgetFrom(tx: TransactionSql, seq: number): Promise<void>;
}

/** The hash of a page that was read in another way is empty, so that it is read again. */
async function readRemembered(
  sql: AnySql,
  resources: readonly Resource[],
  from: number,
  count: number,
): Promise<Map<Resource, Section[]>> {
  const pages = await REMEMBERED_PAGES(sql, {
    resources,
    readings: resources.map((one) => PLANS[one].pageReading),
    from,
    count,
  });
  const sections = new Map<Resource, Section[]>(resources.map((resource) => [resource, []]));
  for (const { resource, ...page } of pages) {
    const at = parsePageRequest(page.request);
    if (at) sections.get(resource)?.push({ ...page, at });
  }
  return sections;
}

/** The pages of a list from the place `from` to before `until`. */
interface Places {
  resource: Resource;
  from: number;
  until: number;
}

/** Drops the pages with a record that was written, deleted or vanished since, or that has no row any more. */
async function forgetStale(tx: TransactionSql, places: readonly Places[]): Promise<void> {
  const found = places.map((place) =>
    STALE_PAGES({ ...place, records: RECORD_TABLES[place.resource].table }),
  );
  // All ids of all pages are joined. A planner without statistics looks them up one by one, which takes twice as long.
  await tx`set local enable_nestloop = off`;
  const stale = compose.join(found, compose` union all `);
  const lost = await runStatement<{ resource: Resource }>(tx, FORGET_PAGES({ stale }));
  for (const { resource } of lost) await recountLive(tx, resource);
}

/** The first pages of the memories of several lists. */
export type FirstPages = ReadonlyMap<Resource, readonly Section[]>;

/** Drops the stale pages of several lists, as `forgetStale`, and reads the first ones that are left of each. */
export function openMemories(sql: Sql, resources: readonly Resource[]): Promise<FirstPages> {
  return withTransaction(sql, async (tx) => {
    await forgetStale(
      tx,
      resources.map((resource) => ({ resource, from: 0, until: LAST })),
    );
    return readRemembered(tx, resources, 0, WINDOW);
  });
}

export function createPageMemory(sql: Sql, resource: Resource): PageMemory {
  return {
    forgetStale: (from, until = LAST) =>
      withTransaction(sql, (tx) => forgetStale(tx, [{ resource, from, until }])),
    async store(tx, pages) {
      const rows = pages.map(({ seq, request, bodyHash, meta, ids, loadedAt, runId }) => {
        return { seq, request, body_hash: `\\x${bodyHash}`, meta, ids, loaded_at: loadedAt, run_id: runId };
      });
      await STORE_PAGES(tx, {
        resource,
        reading: PLANS[resource].pageReading,
        pages: JSON.stringify(rows),
      });
    },
    async *pagesBefore(seq) {
      // By windows: when the connection is lost, a cursor of the driver ends as if it had read all rows.
      for (let from = 0; from < seq; ) {
        const pages = (await readRemembered(sql, [resource], from, WINDOW)).get(resource) ?? [];
        for (const page of pages) if (page.seq < seq) yield page;
        from = (pages.at(-1)?.seq ?? seq) + 1;
      }
    },
    async forgetFrom(tx, seq) {
      await tx`delete from sync.pages where resource = ${resource} and seq >= ${seq}`;
    },
  };
}

/** A walk that went on further than this without one of them goes on without what it left behind. */
const MOST_HELD = 4 * WINDOW;

/** The pages of the walk before, around the place of this one. Each is read before this walk stores its own there. */
export interface EarlierPages {
  /** The page with this body; null where none is held. */
  recall(bodyHash: string): Promise<Section | null>;
  /** Those that are held. */
  sections(): readonly Section[];
}

interface EarlierPlaces extends Partial<Omit<Places, "resource">> {
  /** The pages at the start, where they are read already. */
  first?: Promise<FirstPages> | null;
}

/** @default from the start to the end */
export function createEarlierPages(
  sql: Sql,
  resource: Resource,
  { from = 0, until = LAST, first }: EarlierPlaces = {},
): EarlierPages {
  let held: Section[] = [];
  let next: number | null = from;
  /** The place of the newest page that was recalled, and of the furthest one that came again. */
  let recalled = from;
  let met = from;
  let reading = Promise.resolve();

  async function readOn(): Promise<void> {
    while (next !== null && next <= Math.max(recalled, met) + WINDOW) {
      const read = next === 0 && first ? first : readRemembered(sql, [resource], next, WINDOW);
      const pages = (await read).get(resource) ?? [];
      held.push(...pages.filter(({ seq }) => seq < until));
      const last = pages.at(-1)?.seq ?? until;
      next = pages.length < WINDOW || last + 1 >= until ? null : last + 1;
    }
    held = held.filter(({ seq }) => seq >= met - WINDOW).slice(-MOST_HELD);
  }

  return {
    async recall(bodyHash) {
      recalled += 1;
      reading = reading.catch(() => {}).then(readOn);
      await reading;
      // A page without ids would look empty, so it is parsed again.
      const page = held.find((one) => one.bodyHash === bodyHash && one.ids.length > 0) ?? null;
      if (page) met = Math.max(met, page.seq);
      return page;
    },
    sections: () => held,
  };
}

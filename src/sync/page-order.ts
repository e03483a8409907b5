import type { ReadPage } from "./batches.ts";

/** The number of pages that are remembered: more than are ever asked for ahead. */
const REMEMBERED_PAGES = 160;
/** The number of records, of the latest pages: more than ever move from one page to a later one meanwhile. */
const REMEMBERED_RECORDS = 4096;

/** A page, and the time from which its records are known to be as it shows them. */
export interface OrderedPage extends ReadPage {
  loadedAt: Date;
}

interface Remembered {
  at: number;
  /** Record hashes by id. */
  hashes: Map<string, string>;
}

/**
 * A page that was asked for ahead may be older than the page in front of it, and the two share some records.
 * When a record differs between the two, the older copy is left out, so that no build moves backward. A page
 * without such a record counts as if it had come in order.
 */
export function createPageOrder(): (page: ReadPage) => OrderedPage {
  const recent: Remembered[] = [];
  let remembered = 0;

  function hasNewerCopy(id: string, hash: string, at: number): boolean {
    return recent.some((page) => page.at > at && (page.hashes.get(id) ?? hash) !== hash);
  }

  return (page) => {
    const { normalized } = page;
    const at = page.observedAt.getTime();
    const latest = recent.reduce((newest, one) => Math.max(newest, one.at), at);
    const all = normalized?.records ?? [];
    const records = latest > at ? all.filter(({ id, hash }) => !hasNewerCopy(id, hash, at)) : all;
    const hashes = new Map(records.map(({ id, hash }) => [id, hash]));
    recent.push({ at, hashes });
    remembered += hashes.size;
    while (recent.length > REMEMBERED_PAGES || (remembered > REMEMBERED_RECORDS && recent.length > 1))
      remembered -= recent.shift()?.hashes.size ?? 0;
    const isWhole = records.length === all.length;
    return {
      ...page,
      ...(normalized && { normalized: { ...normalized, records } }),
      loadedAt: isWhole ? new Date(latest) : page.observedAt,
    };
  };
}

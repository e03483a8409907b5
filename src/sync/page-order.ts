import type { ReadPage } from "./batches.ts";

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
 * without such a record counts as if it had come in order. `lookAhead` is the most pages that are asked for
 * ahead: the records of so many pages are remembered.
 */
export function createPageOrder(lookAhead: number): (page: ReadPage) => OrderedPage {
  const recent: Remembered[] = [];

  function hasNewerCopy(id: string, hash: string, at: number): boolean {
    return recent.some((page) => page.at > at && (page.hashes.get(id) ?? hash) !== hash);
  }

  return (page) => {
    const { normalized } = page;
    const at = page.observedAt.getTime();
    const latest = recent.reduce((newest, one) => Math.max(newest, one.at), at);
    const all = normalized?.records ?? [];
    const records = latest > at ? all.filter(({ id, hash }) => !hasNewerCopy(id, hash, at)) : all;
    recent.push({ at, hashes: new Map(records.map(({ id, hash }) => [id, hash])) });
    if (recent.length > lookAhead + 1) recent.shift();
    const isWhole = records.length === all.length;
    return {
      ...page,
      ...(normalized && { normalized: { ...normalized, records } }),
      loadedAt: isWhole ? new Date(latest) : page.observedAt,
    };
  };
}

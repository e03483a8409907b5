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
  /** When it was asked for, in milliseconds. A reply from a cache is as old as its `Age` says. */
  at: number;
  observedAt: number;
  /** Record hashes by id. */
  hashes: Map<string, string>;
}

/**
 * A page that was asked for ahead may be older than the page in front of it, and the two share some records.
 * When a record differs between the two, the copy that was asked for earlier is left out, so that no build moves backward. A page
 * without such a record counts as if it had come in order.
 */
export function createPageOrder(): (page: ReadPage) => OrderedPage {
  const recent: Remembered[] = [];
  let remembered = 0;

  function hasLaterCopy(id: string, hash: string, at: number): boolean {
    return recent.some((page) => page.at > at && (page.hashes.get(id) ?? hash) !== hash);
  }

  return (page) => {
    const { normalized } = page;
    const at = page.askedAt.getTime();
    const isOvertaken = recent.some((one) => one.at > at);
    const latest = Math.max(page.observedAt.getTime(), ...recent.map(({ observedAt }) => observedAt));
    const all = normalized?.records ?? [];
    const records = isOvertaken ? all.filter(({ id, hash }) => !hasLaterCopy(id, hash, at)) : all;
    const hashes = new Map(records.map(({ id, hash }) => [id, hash]));
    recent.push({ at, observedAt: page.observedAt.getTime(), hashes });
    remembered += hashes.size;
    while (recent.length > REMEMBERED_PAGES || (remembered > REMEMBERED_RECORDS && recent.length > 1))
      remembered -= recent.shift()?.hashes.size ?? 0;
    const isWhole = records.length === all.length;
    return {
      ...page,
      ...(normalized && { normalized: { ...normalized, records } }),
      // The next walk must read it, because what it was left out for may not have been written.
      ...(!isWhole && { bodyHash: "" }),
      loadedAt: isWhole ? new Date(latest) : page.observedAt,
    };
  };
}

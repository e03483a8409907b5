import type { ReadPage } from "./batches.ts";

/** Pages whose records are remembered: more than are ever asked for ahead. */
const REMEMBERED_PAGES = 64;

/** A page in its place, and the time from which on its records are known to be as it shows them. */
export interface OrderedPage extends ReadPage {
  loadedAt: Date;
}

interface Remembered {
  at: number;
  /** Record hashes by id. */
  hashes: Map<string, string>;
}

/**
 * Pages that were asked for ahead may be older than the page in front of them, and the two share some records. Of two sightings of a
 * record the later one counts: an older one with other content is left out, so that no build moves back. A page
 * without such a record is as good as if it had come in its place.
 */
export function createPageOrder(): (page: ReadPage) => OrderedPage {
  const recent: Remembered[] = [];

  function hasLaterSighting(id: string, hash: string, at: number): boolean {
    return recent.some((page) => page.at > at && (page.hashes.get(id) ?? hash) !== hash);
  }

  return (page) => {
    const { normalized } = page;
    const at = page.observedAt.getTime();
    const latest = recent.reduce((newest, one) => Math.max(newest, one.at), at);
    const all = normalized?.records ?? [];
    const records = latest > at ? all.filter(({ id, hash }) => !hasLaterSighting(id, hash, at)) : all;
    recent.push({ at, hashes: new Map(records.map(({ id, hash }) => [id, hash])) });
    if (recent.length > REMEMBERED_PAGES) recent.shift();
    const isWhole = records.length === all.length;
    return {
      ...page,
      ...(normalized && { normalized: { ...normalized, records } }),
      loadedAt: isWhole ? new Date(latest) : page.observedAt,
    };
  };
}

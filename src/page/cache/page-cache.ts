import { LRUCache } from "lru-cache";
import { entityTagOf } from "../../base/entity-tag.ts";
import { createSingleFlight } from "./single-flight.ts";

/** A rendered page, or another text, ready to be sent. */
export interface MadePage {
  readonly status: 200 | 404;
  readonly body: string;
  readonly etag: string;
  /** After how many seconds the browser asks again, by itself; null for never. */
  readonly renewSeconds: number | null;
}

/** What is made of a page, before it is kept. */
export type MadeText = Pick<MadePage, "status" | "body"> & Partial<Pick<MadePage, "renewSeconds">>;

/** Makes a page. The signal is aborted when nobody waits for it any more. */
export type MakePage = (signal: AbortSignal) => Promise<MadeText>;

export interface PageCache {
  /**
   * The page of a key for a revision: the stored page, a page that is being made for another reader, or the
   * result of `make`. A page takes the place of its older revision. A page that fails is not stored. `reader`
   * is aborted when the reader leaves.
   */
  find(key: string, revision: string, make: MakePage, reader?: AbortSignal): Promise<MadePage>;
}

interface Kept {
  readonly revision: string;
  readonly page: MadePage;
}

const NEVER = new AbortController().signal;

/**
 * Keeps one revision of each page, of at most `most` pages with up to `maxLength` characters together. The
 * least recently used page goes first. @default 200 pages, 16 Mi
 */
export function createPageCache(maxLength = 16 * 1024 * 1024, most = 200): PageCache {
  const kept = new LRUCache<string, Kept>({
    max: most,
    maxSize: maxLength,
    sizeCalculation: ({ page }, key) => key.length + page.body.length,
  });
  const flights = createSingleFlight<MadePage>();

  return {
    async find(key, revision, make, reader = NEVER) {
      const stored = kept.get(key);
      if (stored?.revision === revision) return stored.page;
      const makeAndKeep = async (signal: AbortSignal) => {
        const { status, body, renewSeconds = null } = await make(signal);
        const page = { status, body, etag: entityTagOf(body), renewSeconds };
        kept.set(key, { revision, page });
        return page;
      };
      return flights.join(`${revision} ${key}`, makeAndKeep, reader);
    },
  };
}

import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { createSingleFlight } from "./single-flight.ts";

/** A rendered page, or another text, ready to be sent. */
export interface MadePage {
  readonly status: 200 | 404;
  readonly body: string;
  readonly etag: string;
}

/** Makes a page. The signal is aborted when nobody waits for it any more. */
export type MakePage = (signal: AbortSignal) => Promise<Pick<MadePage, "status" | "body">>;

export interface PageCache {
  /**
   * The page of a key for a revision: a stored page, a page that is being made for another reader, or the
   * result of `make`. A page that fails is not stored. `reader` is aborted when the reader leaves.
   */
  find(key: string, revision: string, make: MakePage, reader?: AbortSignal): Promise<MadePage>;
}

const NEVER = new AbortController().signal;

/**
 * Keeps pages up to this many, and up to this many characters. The least recently used page goes first.
 *
 * @default 16 Mi characters, 100 pages
 */
export function createPageCache(maxLength = 16 * 1024 * 1024, maxPages = 100): PageCache {
  const cache = new LRUCache<string, MadePage>({
    max: maxPages,
    maxSize: maxLength,
    sizeCalculation: ({ body }, key) => key.length + body.length,
  });
  const flights = createSingleFlight<MadePage>();

  return {
    async find(key, revision, make, reader = NEVER) {
      const place = `${revision} ${key}`;
      const made = cache.get(place);
      if (made !== undefined) return made;
      return flights.join(
        place,
        async (signal) => {
          const { status, body } = await make(signal);
          const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
          const page = { status, body, etag };
          cache.set(place, page);
          return page;
        },
        reader,
      );
    },
  };
}

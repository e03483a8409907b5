import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** A page as it was made, ready to be sent. */
export interface MadePage {
  readonly status: 200 | 404;
  readonly body: string;
  readonly etag: string;
}

export interface PageCache {
  /**
   * The page of a key for a revision: what is here, what is just being made for another, or what `make` gives. One that
   * could not be made is not kept.
   */
  find(key: string, revision: string, make: Make): Promise<MadePage>;
}

type Make = () => Promise<Pick<MadePage, "status" | "body">>;

/** Keeps at most so many characters of pages; the one that was used least lately goes first. @default 16 Mi */
export function createPageCache(maxLength = 16 * 1024 * 1024): PageCache {
  const cache = new LRUCache<string, MadePage, Make>({
    maxSize: maxLength,
    sizeCalculation: ({ body }, key) => key.length + body.length,
    // Who waits for a page gets it, also when the cache has no more room for it.
    ignoreFetchAbort: true,
    async fetchMethod(_key, _old, { context: make }) {
      const { status, body } = await make();
      const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
      return { status, body, etag };
    },
  });
  return {
    find: (key, revision, make) => cache.forceFetch(`${revision} ${key}`, { context: make }),
  };
}

import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** A rendered page, ready to be sent. */
export interface MadePage {
  readonly status: 200 | 404;
  readonly body: string;
  readonly etag: string;
}

export interface PageCache {
  /**
   * The page of a key for a revision: a stored page, a page that is being made for another reader, or the
   * result of `make`. A page that fails is not stored.
   */
  find(key: string, revision: string, make: Make): Promise<MadePage>;
}

type Make = () => Promise<Pick<MadePage, "status" | "body">>;

/** Keeps pages up to this many characters. The least recently used page goes first. @default 16 Mi */
export function createPageCache(maxLength = 16 * 1024 * 1024): PageCache {
  const cache = new LRUCache<string, MadePage, Make>({
    maxSize: maxLength,
    sizeCalculation: ({ body }, key) => key.length + body.length,
    // A reader who waits for a page gets it, even if the cache has no more room for it.
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

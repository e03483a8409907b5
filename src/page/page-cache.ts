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
   * The page of a key for a revision: the stored page, a page that is being made for another reader, or the
   * result of `make`. A page takes the place of its older revision. A page that fails is not stored.
   */
  find(key: string, revision: string, make: Make): Promise<MadePage>;
}

type Make = () => Promise<Pick<MadePage, "status" | "body">>;

interface Kept {
  readonly revision: string;
  readonly page: Promise<MadePage>;
  length: number;
}

/**
 * Keeps one revision of each page, of at most `most` pages with up to `maxLength` characters together. The
 * least recently used page goes first. @default 200 pages, 16 Mi
 */
export function createPageCache(maxLength = 16 * 1024 * 1024, most = 200): PageCache {
  const kept = new LRUCache<string, Kept>({
    max: most,
    maxSize: maxLength,
    sizeCalculation: ({ length }, key) => key.length + length + 1,
  });
  return {
    find(key, revision, make) {
      const stored = kept.get(key);
      if (stored?.revision === revision) return stored.page;
      const page = make().then(({ status, body }) => ({
        status,
        body,
        etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
      }));
      const entry: Kept = { revision, page, length: 0 };
      kept.set(key, entry);
      page.then(
        ({ body }) => {
          if (kept.peek(key) === entry) kept.set(key, { ...entry, length: body.length });
        },
        () => {
          if (kept.peek(key) === entry) kept.delete(key);
        },
      );
      return page;
    },
  };
}

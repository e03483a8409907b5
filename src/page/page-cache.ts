import { createHash } from "node:crypto";

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
  find(
    key: string,
    revision: string,
    make: () => Promise<Pick<MadePage, "status" | "body">>,
  ): Promise<MadePage>;
}

/** Keeps at most so many characters of pages; the one that was used least lately goes first. @default 16 Mi */
export function createPageCache(maxLength = 16 * 1024 * 1024): PageCache {
  const kept = new Map<string, { revision: string; page: Promise<MadePage>; length: number }>();
  let length = 0;

  function drop(key: string): void {
    length -= kept.get(key)?.length ?? 0;
    kept.delete(key);
  }

  return {
    find(key, revision, make) {
      const here = kept.get(key);
      if (here?.revision === revision) {
        // A Map iterates in the order of insertion: putting an entry back makes it the newest.
        kept.delete(key);
        kept.set(key, here);
        return here.page;
      }
      drop(key);
      const page = make().then(({ status, body }): MadePage => {
        const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
        return { status, body, etag };
      });
      const entry = { revision, page, length: key.length };
      kept.set(key, entry);
      length += entry.length;
      const isHere = () => kept.get(key) === entry;
      page.then(
        ({ body }) => {
          if (!isHere()) return;
          entry.length += body.length;
          length += body.length;
          for (const oldest of kept.keys()) {
            if (length <= maxLength) break;
            drop(oldest);
          }
        },
        () => {
          if (isHere()) drop(key);
        },
      );
      return page;
    },
  };
}

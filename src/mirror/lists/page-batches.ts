import type { NormalizedPage } from "../normalize/page.ts";
import type { Page } from "../walk/page.ts";

/** More pages than are ever asked for ahead, more records than ever move from one page to a later one meanwhile. */
const REMEMBERED_PAGES = 160;
const REMEMBERED_RECORDS = 4096;

/** `loadedAt`: from then on its records are known to be as it shows them. */
export type OrderedPage = ReadPage & { loadedAt: Date };

/** Where two copies of a record differ, leaves out the one that was asked for earlier, so that no build moves backward. */
export function createPageOrder(): (page: ReadPage) => OrderedPage {
  /** `at`: when it was asked for; a reply from a cache is as old as its `Age` says. `hashes`: those of its records by id. */
  const recent: { at: number; observedAt: number; hashes: Map<string, string> }[] = [];
  let remembered = 0;

  return (page) => {
    const { normalized } = page;
    const at = page.askedAt.getTime();
    const isOvertaken = recent.some((one) => one.at > at);
    const latest = Math.max(page.observedAt.getTime(), ...recent.map(({ observedAt }) => observedAt));
    const all = normalized?.records ?? [];
    const hasLaterCopy = ({ id, hash }: { id: string; hash: string }) =>
      recent.some((one) => one.at > at && (one.hashes.get(id) ?? hash) !== hash);
    const records = isOvertaken ? all.filter((record) => !hasLaterCopy(record)) : all;
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

/** A page and, unless it was skipped unparsed, its normalized records. */
type ReadPage = Page & { normalized?: NormalizedPage };

/** The most batches at the same time: while Postgres stores one, the next is prepared. */
const MAX_UNDER_WAY = 2;

/**
 * Passes pages on in their order; pages that arrive during a batch form the next one. Calls `settle` for the second
 * batch before the first one has ended. With `maxPages` 1, each page is passed on before the next one is taken.
 * `isOverdrawn`: pages take more memory than they may.
 */
export function createBatches<P extends ReadPage>(
  settle: (pages: readonly P[]) => Promise<void>,
  maxPages: number,
  isOverdrawn = () => false,
) {
  let gathered: P[] = [];
  let underWay = 0;
  let failure: { reason: unknown } | null = null;
  let wake: () => void = () => {};

  function start(): void {
    const pages = gathered;
    gathered = [];
    underWay += 1;
    settle(pages)
      .catch((reason: unknown) => {
        failure ??= { reason };
      })
      .finally(() => {
        underWay -= 1;
        if (gathered.length > 0 && !failure) start();
        wake();
      });
  }

  const nextEnd = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });

  return {
    /** Waits while a full batch is behind the running ones, or memory is short. Throws the error of an earlier batch. */
    async add(page: P): Promise<void> {
      if (failure) throw failure.reason;
      gathered.push(page);
      if (underWay < MAX_UNDER_WAY) start();
      const isFull = () => maxPages === 1 || gathered.length >= maxPages || isOverdrawn();
      while (underWay > 0 && isFull() && !failure) await nextEnd();
      if (failure) throw (failure as { reason: unknown }).reason;
    },
    /** Waits until all pages are passed on. Throws as `add` does. */
    async end(): Promise<void> {
      while (underWay > 0) await nextEnd();
      if (failure) throw (failure as { reason: unknown }).reason;
    },
  };
}

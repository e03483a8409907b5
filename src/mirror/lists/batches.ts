import type { NormalizedPage } from "../normalize/page.ts";
import type { Page } from "../walk/page.ts";

/** A page and, unless it was skipped unparsed, its normalized records. */
export type ReadPage = Page & { normalized?: NormalizedPage };

/** The most bytes of waiting pages: two of the size that `auto` aims for. A single page may be larger. */
const MAX_BATCH_BYTES = 1400 * 1024;

/** The most batches at the same time: while Postgres stores one, the next is prepared. */
const MAX_UNDER_WAY = 2;

/**
 * Passes pages on in their order; pages that arrive during a batch form the next one. Calls `settle` for the second
 * batch before the first one has ended. With `maxPages` 1, each page is passed on before the next one is taken.
 */
export function createBatches<P extends ReadPage>(
  settle: (pages: readonly P[]) => Promise<void>,
  maxPages: number,
) {
  let gathered: P[] = [];
  let bytes = 0;
  let underWay = 0;
  let failure: { reason: unknown } | null = null;
  let wake: () => void = () => {};

  function start(): void {
    const pages = gathered;
    gathered = [];
    bytes = 0;
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

  /** Resolves when the next batch ends. */
  async function nextEnd(): Promise<void> {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }

  return {
    /** Waits while a full batch is behind the running ones. Throws the error of an earlier batch. */
    async add(page: P): Promise<void> {
      if (failure) throw failure.reason;
      gathered.push(page);
      bytes += page.bytes;
      if (underWay < MAX_UNDER_WAY) start();
      const isFull = () => gathered.length >= maxPages || bytes >= MAX_BATCH_BYTES;
      while (underWay > 0 && (maxPages === 1 || isFull()) && !failure) await nextEnd();
      if (failure) throw (failure as { reason: unknown }).reason;
    },
    /** Waits until all pages are passed on. Throws as `add` does. */
    async end(): Promise<void> {
      while (underWay > 0) await nextEnd();
      if (failure) throw (failure as { reason: unknown }).reason;
    },
  };
}

import type { NormalizedPage } from "../normalize/page.ts";
import type { Page } from "../walk/page.ts";

/** A page and, unless it was skipped unparsed, what the loader made of its records. */
export type ReadPage = Page & { normalized?: NormalizedPage };

/** Bodies that gather while a batch is loaded hold at most so many bytes; one page may be larger. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024;

/** Batches handed on at once: while Postgres takes one, the next is made ready. */
const MAX_UNDER_WAY = 2;

/** Hands pages on in their order; what arrives meanwhile gathers for the next batch. */
export interface Batches<P extends ReadPage> {
  /** Waits while a full batch gathers behind those that are under way. Throws what an earlier batch threw. */
  add(page: P): Promise<void>;
  /** Waits until everything is handed on. */
  end(): Promise<void>;
}

/**
 * `settle` is called for the batches in their order, a second time before the first call has ended. `maxPages` 1 hands each page on
 * before the next one is taken.
 */
export function createBatches<P extends ReadPage>(
  settle: (pages: readonly P[]) => Promise<void>,
  maxPages: number,
): Batches<P> {
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

  /** Resolves when any batch has ended. */
  async function nextEnd(): Promise<void> {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }

  return {
    async add(page) {
      if (failure) throw failure.reason;
      gathered.push(page);
      bytes += page.bytes;
      if (underWay < MAX_UNDER_WAY) start();
      const isFull = () => gathered.length >= maxPages || bytes >= MAX_BATCH_BYTES;
      while (underWay > 0 && (maxPages === 1 || isFull()) && !failure) await nextEnd();
      if (failure) throw (failure as { reason: unknown }).reason;
    },
    async end() {
      while (underWay > 0) await nextEnd();
      if (failure) throw (failure as { reason: unknown }).reason;
    },
  };
}

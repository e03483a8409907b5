import type { Page } from "../walk/page.ts";

/** Bodies that gather while a batch is loaded hold at most so many bytes; one page may be larger. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Hands pages on in their order, one batch at a time; what arrives meanwhile gathers for the next. */
export interface Batches {
  /** Waits while a full batch gathers behind one that is under way. Throws what an earlier batch threw. */
  add(page: Page): Promise<void>;
  /** Waits until everything is handed on. */
  end(): Promise<void>;
}

/** `maxPages` 1 hands each page on before the next one is taken. */
export function createBatches(settle: (pages: readonly Page[]) => Promise<void>, maxPages: number): Batches {
  let gathered: Page[] = [];
  let bytes = 0;
  let underWay: Promise<void> | null = null;
  let failure: { reason: unknown } | null = null;

  function start(): void {
    const pages = gathered;
    gathered = [];
    bytes = 0;
    underWay = settle(pages).then(
      () => {
        underWay = null;
        if (gathered.length > 0) start();
      },
      (reason: unknown) => {
        underWay = null;
        failure = { reason };
      },
    );
  }

  async function settled(): Promise<void> {
    await underWay;
    if (failure) throw failure.reason;
  }

  return {
    async add(page) {
      if (failure) throw failure.reason;
      gathered.push(page);
      bytes += page.bytes;
      if (!underWay) start();
      if (maxPages === 1) return settled();
      while (underWay && (gathered.length >= maxPages || bytes >= MAX_BATCH_BYTES)) await settled();
    },
    async end() {
      while (underWay) await settled();
      if (failure) throw failure.reason;
    },
  };
}

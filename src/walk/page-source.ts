import { setMaxListeners } from "node:events";
import type { Client } from "../api/client.ts";
import { type PageRequest, requestText } from "../wire/page-request.ts";
import type { Resource } from "../wire/resources.ts";
import { type Page, type ParsedPage, parsePage, type RememberedPage } from "./page.ts";

/** The most bytes that pages asked for ahead hold together, estimated from the size of the last page. */
const LOOK_AHEAD_BYTES = 4 * 1024 * 1024;
/** The number of wrong guesses allowed: a list that changes or is narrowed causes some. */
const FORGIVEN_MISSES = 3;
const HITS_PER_MISS = 16;

/** A page without the fields that only the walk knows. */
export type FetchedPage = Omit<Page, "seq" | "resource" | "holes" | "isAnchored" | "following">;

export interface PageSource {
  /** Throws what the client throws. `retries` is for this request only. */
  take(request: PageRequest, seq: number, retries?: number): Promise<FetchedPage>;
  /**
   * Asks for pages that will probably be needed: `from` and the following ones, `step` apart, up to `end`.
   */
  askAhead(
    from: PageRequest,
    seq: number,
    step: number,
    end: number,
    pageBytes: number,
    retries?: number,
  ): void;
  /** Whether the service answers at all. For a page that keeps failing. */
  isServiceUp(): Promise<boolean>;
  /** Ends the requests that still run. */
  close(): void;
}

export interface PageSourceOptions {
  client: Client;
  resource: Resource;
  /** The most pages asked for ahead of the current one. */
  lookAhead: number;
  /** Returns what is remembered of the page at a place of the walk. */
  remember?: (seq: number) => Promise<RememberedPage | null>;
  signal?: AbortSignal;
}

/**
 * Fetches pages, and asks ahead for those that will probably come next, so that a slow line is used fully. A
 * guess is used only for exactly its own request. When too many guesses are wrong, asking ahead ends.
 */
export function createPageSource(options: PageSourceOptions): PageSource {
  const { client, resource, signal } = options;
  const ahead = new Map<string, Promise<FetchedPage>>();
  let guesses = new AbortController();
  let hits = 0;
  let misses = 0;
  const giveUp = () => guesses.abort(signal?.reason);
  signal?.addEventListener("abort", giveUp, { once: true });

  async function fetchPage(
    request: string,
    seq: number,
    until: AbortSignal | undefined,
    retries?: number,
  ): Promise<FetchedPage> {
    // Looked up during the request. A page without ids would look like an empty one; that is rare, so it is
    // parsed again.
    const recalled = Promise.resolve(options.remember?.(seq)).then((page) =>
      page?.request === request && page.ids.length > 0 ? page : null,
    );
    const knownHash = recalled.then((page) => page?.bodyHash);
    // A failed look-up is thrown where it is awaited, unless the request failed before.
    for (const promise of [recalled, knownHash]) promise.catch(() => {});
    const reply = await client.fetchJson<ParsedPage>(request, {
      parse: (value, url) => parsePage(value, resource, url),
      knownHash,
      ...(retries !== undefined && { retries }),
      ...(until && { signal: until }),
    });
    const known = await recalled;
    const parsed = reply.value ?? (known && { meta: known.meta, ids: known.ids, records: null });
    if (!parsed) throw new Error("a body was left unparsed though no page is remembered");
    const { hash, bytes, sentAt, receivedAt } = reply;
    return { ...parsed, request, bodyHash: hash, bytes, askedAt: sentAt, observedAt: receivedAt };
  }

  /** Drops the pages that were asked for in vain. */
  function forgetGuesses(): void {
    if (ahead.size === 0) return;
    misses += 1;
    guesses.abort(new Error("another page was wanted"));
    guesses = new AbortController();
    ahead.clear();
  }

  return {
    take(request, seq, retries) {
      const text = requestText(request);
      const guessed = ahead.get(text);
      if (!guessed) {
        forgetGuesses();
        return fetchPage(text, seq, signal, retries);
      }
      hits += 1;
      ahead.delete(text);
      return guessed;
    },
    askAhead(from, seq, step, end, pageBytes, retries) {
      if (!ahead.has(requestText(from))) forgetGuesses();
      if (misses > FORGIVEN_MISSES + hits / HITS_PER_MISS || signal?.aborted) return;
      const room = Math.min(options.lookAhead, Math.floor(LOOK_AHEAD_BYTES / Math.max(1, pageBytes)));
      setMaxListeners(0, guesses.signal);
      for (let count = 0; count < room; count++) {
        const offset = from.offset + count * step;
        if (offset >= end) return;
        const text = requestText({ ...from, offset });
        if (ahead.has(text)) continue;
        const promise = fetchPage(text, seq + count, guesses.signal, retries);
        // A failure matters only when the page is needed. `take` then throws it.
        promise.catch(() => {});
        ahead.set(text, promise);
      }
    },
    isServiceUp: () => client.isUp(signal),
    close() {
      signal?.removeEventListener("abort", giveUp);
      guesses.abort(new Error("the walk is over"));
      ahead.clear();
    },
  };
}

import { type PageRequest, requestText } from "../../resources/page-request.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Client } from "../api/client.ts";
import { createLookAheadRoom, type LookAheadRoom } from "./look-ahead.ts";
import { type FetchedPage, type ParsedPage, parseListPage, type RememberedPage } from "./page.ts";

/** The number of wrong guesses allowed: a list that changes or is narrowed causes some. */
const FORGIVEN_MISSES = 3;
const HITS_PER_MISS = 16;

/** The walk waits for this page, while a page asked for ahead may wait for it. */
const NEEDED_NOW = 1;

export type PageSource = ReturnType<typeof createPageSource>;

export interface PageSourceOptions {
  client: Client;
  resource: Resource;
  /** The most pages asked for ahead of the current one. See `lookAheadOf`. */
  lookAhead: number;
  /** @default room of its own */
  room?: LookAheadRoom;
  /** Returns what is remembered of the page at a place of the walk. */
  remember?: (seq: number) => Promise<RememberedPage | null>;
  signal?: AbortSignal;
}

/** A page asked for ahead. */
interface Guess {
  request: PageRequest;
  seq: number;
  page: Promise<FetchedPage>;
  /** The room that it takes. */
  bytes: number;
  abort: AbortController;
}

/**
 * Fetches pages, and asks ahead for those that will probably come next, so that a slow line is used fully:
 * each request reads its own section of the list at the same time as the others. A guess is used only for
 * exactly its own request. When too many guesses are wrong, asking ahead ends.
 */
export function createPageSource(options: PageSourceOptions) {
  const { client, resource, signal, room = createLookAheadRoom() } = options;
  const ahead = new Map<string, Guess>();
  let hits = 0;
  let misses = 0;
  const giveUp = () => {
    for (const { abort } of ahead.values()) abort.abort(signal?.reason);
  };
  signal?.addEventListener("abort", giveUp, { once: true });

  async function fetchPage(
    request: string,
    seq: number,
    until: AbortSignal | undefined,
    priority: number,
    retries?: number,
  ): Promise<FetchedPage> {
    // Looked up during the request. A page without ids would look empty, so it is parsed again.
    const recalled = Promise.resolve(options.remember?.(seq)).then((page) =>
      page?.request === request && page.ids.length > 0 ? page : null,
    );
    const knownHash = recalled.then((page) => page?.bodyHash);
    // A failed look-up is thrown where it is awaited, unless the request failed before.
    for (const promise of [recalled, knownHash]) promise.catch(() => {});
    const reply = await client.fetchJson<ParsedPage>(request, {
      parse: (value, url) => parseListPage(value, resource, url, client.baseUrl),
      knownHash,
      priority,
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
  function drop(isVain: (request: PageRequest) => boolean): void {
    const vain = [...ahead].filter(([, { request }]) => isVain(request));
    if (vain.length === 0) return;
    misses += 1;
    for (const [text, guess] of vain) {
      guess.abort.abort(new Error("another page was wanted"));
      remove(text, guess);
    }
  }

  function remove(text: string, { bytes }: Guess): void {
    ahead.delete(text);
    room.give(bytes);
  }

  async function takeGuess(guess: Guess, text: string, seq: number, retries?: number): Promise<FetchedPage> {
    const giveUpThis = () => guess.abort.abort(signal?.reason);
    signal?.addEventListener("abort", giveUpThis, { once: true });
    const page = await guess.page.finally(() => signal?.removeEventListener("abort", giveUpThis));
    // A page was read in between, so this one has another place than the one under which it is remembered.
    const isMisplaced = page.records === null && guess.seq !== seq;
    return isMisplaced ? fetchPage(text, seq, signal, NEEDED_NOW, retries) : page;
  }

  return {
    /**
     * Throws what the client throws. `retries` is for this request only. Pages asked for ahead wait until the
     * walk is back at them, unless the size of a page has changed.
     */
    async take(request: PageRequest, seq: number, retries?: number): Promise<FetchedPage> {
      const text = requestText(request);
      const guess = ahead.get(text);
      if (guess) {
        hits += 1;
        remove(text, guess);
        return takeGuess(guess, text, seq, retries);
      }
      drop(({ limit, offset }) => limit !== request.limit || offset < request.offset);
      return fetchPage(text, seq, signal, NEEDED_NOW, retries);
    },
    /**
     * Asks for pages that will probably be needed: `from` and the following ones, `step` apart, up to `end`.
     * Drops those asked for earlier that are not among them or behind them.
     */
    askAhead(
      from: PageRequest,
      seq: number,
      step: number,
      end: number,
      pageBytes: number,
      retries?: number,
    ): void {
      const isOnTheWay = ({ limit, offset }: PageRequest) =>
        limit === from.limit && offset >= from.offset && (offset - from.offset) % step === 0;
      drop((request) => !isOnTheWay(request));
      if (misses > FORGIVEN_MISSES + hits / HITS_PER_MISS || signal?.aborted) return;
      for (let count = 0; count < options.lookAhead; count++) {
        const request = { ...from, offset: from.offset + count * step };
        if (request.offset >= end) return;
        const text = requestText(request);
        if (ahead.has(text)) continue;
        if (!room.take(pageBytes)) return;
        const abort = new AbortController();
        const page = fetchPage(text, seq + count, abort.signal, 0, retries);
        // A failure matters only when the page is needed. `take` then throws it.
        page.catch(() => {});
        ahead.set(text, { request, seq: seq + count, page, bytes: pageBytes, abort });
      }
    },
    /** The number of pages that were asked for ahead and not taken yet. */
    get pending() {
      return ahead.size;
    },
    /** Whether the service answers at all. For a page that keeps failing. */
    isServiceUp: () => client.isUp(signal),
    /** Ends the requests that still run. */
    close(): void {
      signal?.removeEventListener("abort", giveUp);
      for (const [text, guess] of ahead) {
        guess.abort.abort(new Error("the walk is over"));
        remove(text, guess);
      }
    },
  };
}

import { type PageRequest, requestText } from "../../resources/page-request.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Client } from "../api/client.ts";
import { withSignals } from "../api/link-signals.ts";
import {
  type FetchedPage,
  type ParsedPage,
  parseKnownMeta,
  parseListPage,
  type RememberedPage,
} from "./page.ts";

/** The most bytes asked for ahead. More is no faster: pages take longer to load than to arrive. */
const MOST_BYTES = 4.5 * 1024 * 1024;

/** The memory for pages until they are stored, shared by all lists that are walked at the same time. */
export interface LookAheadRoom {
  /** For a page asked for ahead. False where there is none. */
  take(bytes: number): boolean;
  /** For the page that a walk waits for, even where there is none, so that each list goes on. */
  hold(bytes: number): void;
  give(bytes: number): void;
  isOverdrawn(): boolean;
}

export function createLookAheadRoom(): LookAheadRoom {
  let left = MOST_BYTES;
  return {
    take(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    hold(bytes) {
      left -= bytes;
    },
    give(bytes) {
      left += bytes;
    },
    isOverdrawn: () => left < 0,
  };
}

/** The pages asked for ahead: twice the requests in flight, so that these go on while the walk waits. */
export const lookAheadOf = (concurrency: number) => 2 * concurrency;

/** A list that changes or is narrowed causes some wrong guesses. */
const FORGIVEN_MISSES = 3;
const HITS_PER_MISS = 16;

/** Counts how often pages asked for ahead were wanted, or dropped. `isGood`: asking is still worth it. */
export function createGuessRecord() {
  let hits = 0;
  let misses = 0;
  return {
    hit(): void {
      hits += 1;
    },
    miss(): void {
      misses += 1;
    },
    get isGood(): boolean {
      return misses <= FORGIVEN_MISSES + hits / HITS_PER_MISS;
    },
  };
}

export interface PageSource {
  /** Throws what the client throws. Pages asked for ahead stay, unless the walk has passed them or their size changed. */
  take(request: PageRequest, retries?: number): Promise<FetchedPage>;
  /** The most pages asked for ahead of the current one. */
  readonly lookAhead: number;
  /** Asks for the pages at these offsets, each as in `like`. Drops those asked for earlier that are not among them. */
  askAhead(offsets: readonly number[], like: PageRequest, pageBytes: number, retries?: number): void;
  /** The offsets that were asked for ahead. */
  readonly pending: readonly number[];
  isServiceUp(): Promise<boolean>;
  close(): void;
}

export interface PageSourceOptions {
  client: Client;
  resource: Resource;
  /** The most pages asked for ahead of the current one (`lookAheadOf`). */
  lookAhead: number;
  /** @default room of its own */
  room?: LookAheadRoom;
  /** Finds an earlier page with this `bodyHash`. @default there is none */
  recall?: (bodyHash: string) => Promise<RememberedPage | null>;
  /** A page that was just fetched: the first time that it is wanted, it is not asked for. */
  recent?: FetchedPage | null;
  signal?: AbortSignal;
}

type FoundPage = ParsedPage | (Pick<FetchedPage, "meta" | "ids" | "known"> & { dates: null; records: null });

interface Guess {
  request: PageRequest;
  page: Promise<FetchedPage>;
  bytes: number;
  abort: AbortController;
}

/** Asks ahead for pages that will probably come next, so that a slow line is used fully; not after too many wrong guesses. */
export function createPageSource(options: PageSourceOptions): PageSource {
  const { client, resource, lookAhead, recall, signal, room = createLookAheadRoom() } = options;
  let { recent = null } = options;
  const ahead = new Map<string, Guess>();
  const guesses = createGuessRecord();

  async function fetchPage(
    request: string,
    until: AbortSignal | undefined,
    priority: number,
    retries?: number,
  ): Promise<FetchedPage> {
    const reply = await client.fetchJson<FoundPage>(request, {
      parse: (value, url) => parseListPage(value, resource, url, client),
      ...(recall && { recall: (hash) => recallPage(hash, recall) }),
      priority,
      ...(retries !== undefined && { retries }),
      ...(until && { signal: until }),
    });
    const { value, hash, bytes, sentAt, receivedAt, tookMs } = reply;
    return { ...value, request, bodyHash: hash, bytes, askedAt: sentAt, observedAt: receivedAt, tookMs };
  }

  async function recallPage(hash: string, find: NonNullable<typeof recall>) {
    const known = await find(hash);
    return (
      known &&
      ((envelope: unknown, url: string): FoundPage => {
        const { shift: _, ...same } = known.meta;
        const meta = envelope === null ? same : parseKnownMeta(envelope, known, resource, url);
        return { meta, ids: known.ids, dates: null, records: null, known };
      })
    );
  }

  function drop(isVain: (request: PageRequest) => boolean): void {
    const vain = [...ahead].filter(([, { request }]) => isVain(request));
    if (vain.length === 0) return;
    guesses.miss();
    for (const [text, guess] of vain) {
      guess.abort.abort(new Error("another page was wanted"));
      remove(text, guess);
    }
  }

  function remove(text: string, { bytes }: Guess): void {
    ahead.delete(text);
    room.give(bytes);
  }

  return {
    async take(request, retries) {
      const text = requestText(request);
      const known = recent?.request === text ? recent : null;
      recent = null;
      if (known) return known;
      const guess = ahead.get(text);
      if (guess) {
        guesses.hit();
        remove(text, guess);
        return guess.page;
      }
      drop(({ limit, offset }) => limit !== request.limit || offset < request.offset);
      // Before the pages asked for ahead, because the walk waits for it.
      return fetchPage(text, signal, 1, retries);
    },
    lookAhead,
    askAhead(offsets, like, pageBytes, retries) {
      const wanted = new Set(offsets);
      drop(({ limit, offset }) => limit !== like.limit || !wanted.has(offset));
      if (!guesses.isGood || signal?.aborted) return;
      for (const offset of offsets.slice(0, lookAhead)) {
        const request = { ...like, offset };
        const text = requestText(request);
        if (ahead.has(text)) continue;
        if (!room.take(pageBytes)) return;
        const abort = new AbortController();
        const page = withSignals([signal, abort.signal], (until) => fetchPage(text, until, 0, retries));
        // A failure matters only when the page is needed. `take` then throws it.
        page.catch(() => {});
        ahead.set(text, { request, page, bytes: pageBytes, abort });
      }
    },
    get pending() {
      return [...ahead.values()].map(({ request }) => request.offset);
    },
    isServiceUp: () => client.isUp(signal),
    close() {
      for (const [text, guess] of ahead) {
        guess.abort.abort(new Error("the walk is over"));
        remove(text, guess);
      }
    },
  };
}

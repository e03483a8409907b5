/**
 * The walk: page after page of one list, by `meta.next`, until the service says that there is no next one.
 *
 *   start ──▶ page ──▶ page … ──next is null──▶ end: whole, when the distinct ids reach `total_count`; else not_whole
 *               └──consumer calls stop()──▶ end: head
 *
 * The pages that `next` will probably name are asked for ahead, so that a slow line is kept busy; but a page counts only
 * when the `next` before it names exactly that request; the first time it does not, asking ahead ends. The end is never guessed. A `next` that leads elsewhere, or
 * not forward, ends the walk as not whole: what was read stays, and nothing may be concluded from what was not.
 */
import { setMaxListeners } from "node:events";
import { apiUrl } from "../api/api-url.ts";
import type { Client } from "../api/client.ts";
import type { Resource } from "../wire/resources.ts";
import { createIdSet, type IdSet } from "./id-set.ts";
import { type Page, type ParsedPage, parsePage, type RememberedPage } from "./page.ts";
import { firstRequest, type PageRequest, parsePageRequest, requestText } from "./page-request.ts";

/** Pages asked for ahead hold at most so many bytes together, judged by the size of the last page. */
const LOOK_AHEAD_BYTES = 4 * 1024 * 1024;

export interface WalkOptions {
  client: Client;
  resource: Resource;
  /** The list's path from the root listing, such as `/api/v1/build/`. */
  listPath: string;
  pageSize: number;
  /** Pages asked for ahead of the one that is read, at most. */
  lookAhead: number;
  /** What is known of the page at a place of the walk. */
  remember?: (seq: number) => Promise<RememberedPage | null>;
  /** Where an interrupted walk goes on. */
  resume?: { seq: number; request: string; seen: IdSet };
  signal?: AbortSignal;
}

/** How a walk ended. */
export interface WalkOutcome {
  walk: "whole" | "not_whole" | "head";
  /** Why it is not whole, in words. */
  reason: string | null;
  /** What the last page said. */
  totalCount: number | null;
  /** Distinct ids seen. */
  records: number;
}

export interface Walk {
  /** The pages in order, each once. Throws what the client throws. */
  pages(): AsyncGenerator<Page, WalkOutcome>;
  /** Asks the walk to end after the page just given; its outcome is `head`. */
  stop(): void;
  readonly seen: IdSet;
}

type Fetched = { page: Omit<Page, "seq" | "resource"> };

export function createWalk(options: WalkOptions): Walk {
  const { client, resource, listPath, signal } = options;
  const seen = options.resume?.seen ?? createIdSet();
  const ahead = new Map<string, Promise<Fetched>>();
  /** Ends the pages asked for ahead that nobody will take. */
  const guesses = new AbortController();
  setMaxListeners(0, guesses.signal);
  let stopped = false;

  async function fetchPage(request: string, seq: number, until = signal): Promise<Fetched> {
    // Looked up while the request is under way. Without ids a page could not be told from an empty one; it is rare enough
    // to be parsed anew.
    const recalled = Promise.resolve(options.remember?.(seq)).then((page) =>
      page?.request === request && page.ids.length > 0 ? page : null,
    );
    const knownHash = recalled.then((page) => page?.bodyHash);
    // A failure to recall counts where it is awaited, unless the request failed before.
    for (const promise of [recalled, knownHash]) promise.catch(() => {});
    const reply = await client.fetchJson<ParsedPage>(request, {
      parse: (value, url) => parsePage(value, resource, url),
      knownHash,
      ...(until && { signal: until }),
    });
    const known = await recalled;
    const parsed = reply.value ?? (known && { meta: known.meta, ids: known.ids, records: null });
    if (!parsed) throw new Error("a body was left unparsed though no page is remembered");
    return {
      page: { ...parsed, request, bodyHash: reply.hash, bytes: reply.bytes, observedAt: reply.receivedAt },
    };
  }

  function take(request: PageRequest, seq: number): Promise<Fetched> {
    const text = requestText(request);
    const started = ahead.get(text);
    ahead.delete(text);
    return started ?? fetchPage(text, seq);
  }

  function askAhead(from: PageRequest, step: number, seq: number, page: Fetched["page"]): void {
    // A service whose next is not where it was looked for would be asked for several pages where one is needed.
    if (ahead.size > 0 && !ahead.has(requestText(from))) guesses.abort(new Error("next named another page"));
    if (guesses.signal.aborted) {
      ahead.clear();
      return;
    }
    const end = page.meta.totalCount ?? 0;
    const room = Math.min(options.lookAhead, Math.floor(LOOK_AHEAD_BYTES / Math.max(1, page.bytes)));
    for (let count = 0; count < room; count++) {
      const offset = from.offset + count * step;
      if (offset >= end) return;
      const text = requestText({ ...from, offset });
      if (ahead.has(text)) continue;
      const promise = fetchPage(text, seq + count, guesses.signal);
      // A failure counts only when the page is needed; whoever takes it then sees it.
      promise.catch(() => {});
      ahead.set(text, promise);
    }
  }

  async function* pages(): AsyncGenerator<Page, WalkOutcome> {
    const giveUp = () => guesses.abort(signal?.reason);
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      return yield* follow();
    } finally {
      signal?.removeEventListener("abort", giveUp);
      guesses.abort(new Error("the walk is over"));
    }
  }

  async function* follow(): AsyncGenerator<Page, WalkOutcome> {
    const start = options.resume ? parsePageRequest(options.resume.request) : null;
    let seq = start ? (options.resume?.seq ?? 0) : 0;
    let request = start ?? firstRequest(listPath, options.pageSize);
    for (;;) {
      signal?.throwIfAborted();
      const { page } = await take(request, seq);
      for (const id of page.ids) seen.add(id);
      const { totalCount, next } = page.meta;
      const outcome = (walk: WalkOutcome["walk"], reason: string | null = null): WalkOutcome => ({
        walk,
        reason,
        totalCount,
        records: seen.size,
      });

      const following = next === null ? null : parsePageRequest(next);
      const fault = next === null ? null : nextFault(next, following, request, page);
      if (following && !fault) askAhead(following, following.offset - request.offset, seq + 1, page);
      yield { ...page, seq, resource };

      if (stopped) return outcome("head");
      if (fault) return outcome("not_whole", `${resource} list, ${requestText(request)}: ${fault}`);
      if (!following) {
        if (totalCount === null) return outcome("not_whole", `${resource} list: total_count is no number`);
        if (seen.size < totalCount) {
          const counts = `${seen.size} distinct ids were seen where total_count says ${totalCount}`;
          return outcome(
            "not_whole",
            `${resource} list: next was null at offset ${request.offset}, but ${counts}`,
          );
        }
        return outcome("whole");
      }
      request = following;
      seq += 1;
    }
  }

  /** Why a `next` cannot be followed, or null. Every link must lead forward, so that no walk goes round for ever. */
  function nextFault(
    next: string,
    following: PageRequest | null,
    request: PageRequest,
    page: Pick<Page, "records" | "ids">,
  ): string | null {
    if (!following) return `next should name a page by limit and offset, but is '${next.slice(0, 200)}'`;
    if (apiUrl(following.path, client.baseUrl)?.pathname !== apiUrl(request.path, client.baseUrl)?.pathname) {
      return `next should stay on ${request.path}, but is '${next.slice(0, 200)}'`;
    }
    if (following.offset <= request.offset) {
      return `next should lead on from offset ${request.offset}, but leads to offset ${following.offset}`;
    }
    // Records without an id are put aside by whoever loads them; they do not end the walk.
    if ((page.records ?? page.ids).length === 0) return "the page holds no record, yet it has a next one";
    return null;
  }

  return {
    pages,
    stop: () => {
      stopped = true;
    },
    seen,
  };
}

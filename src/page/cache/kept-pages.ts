/**
 * Pages are made few at once, and kept. A page is kept until its figures change; equal requests share one
 * page; a reader who leaves frees the place. No page knows of this.
 */
import type { Context } from "hono";
import { LRUCache } from "lru-cache";
import { entityTagOf } from "../../base/entity-tag.ts";
import type { MirrorReader, TransactionSql } from "../../store/connection/sql.ts";
import { type FoundMoment, findMoment, type PageMoment } from "../parts/freshness.ts";
import { createGate, PAGES_AT_ONCE } from "./gate.ts";
import { createSingleFlight, whileRead } from "./single-flight.ts";

/** Pages read the mirror few at once, and no longer than somebody waits for them. */
export interface KeptPages {
  /** The service as a page named it last, for a page that asks no database. */
  service(): string | null;
  /**
   * The page of a key, which holds everything that the page depends on, except the figures and the minute
   * that `now` is in. It is kept until these change, and made once for all who ask meanwhile.
   */
  find(
    c: Context,
    key: unknown,
    now: Date,
    make: (tx: TransactionSql, moment: PageMoment) => Promise<MadeText>,
  ): Promise<MadePage>;
  moment(tx: TransactionSql, now: Date): Promise<PageMoment>;
  /** Reads a snapshot for a page that is not kept. */
  read<T>(c: Context, fn: (tx: TransactionSql) => Promise<T>): Promise<T>;
}

/** A list that was not read well for `staleAfterMs` is stale. `still` is the moment of a mirror that is one snapshot. */
export function createKeptPages(mirror: MirrorReader, staleAfterMs: number, still?: FoundMoment): KeptPages {
  const gate = createGate(PAGES_AT_ONCE);
  const cache = createPageCache();
  // Few short questions, so they need no gate: a kept page does not wait for expensive ones.
  const revisions = createSingleFlight<FoundMoment>();
  let known = still?.moment.freshness.service ?? null;

  const findNow = async (tx: TransactionSql, now: Date) => still ?? findMoment(tx, now, staleAfterMs);

  return {
    service: () => known,
    async find(c, key, now, make) {
      const reader = whileRead(c.req.raw);
      const { revision, moment } = await revisions.join(
        now.toISOString().slice(0, 16),
        (signal) => mirror.snapshot((tx) => findNow(tx, now), signal),
        reader,
      );
      known = moment.freshness.service;
      const makeBounded = (signal: AbortSignal) => {
        const read = async (tx: TransactionSql) => make(tx, (await findNow(tx, now)).moment);
        return gate.pass(() => mirror.snapshot(read, signal), signal);
      };
      return cache.find(JSON.stringify(key), revision, makeBounded, reader);
    },
    moment: async (tx, now) => (await findNow(tx, now)).moment,
    read(c, fn) {
      const reader = whileRead(c.req.raw);
      return gate.pass(() => mirror.snapshot(fn, reader), reader);
    },
  };
}

/** Sends a page, or 304 to a reader who has it. */
export function sendPage(
  c: Context,
  { status, body, etag, renewSeconds }: MadePage,
  headers: Readonly<Record<string, string>>,
): Response {
  const renewal = renewSeconds === undefined ? {} : { refresh: String(renewSeconds) };
  const all = { "cache-control": "no-cache", etag, ...renewal, ...headers };
  if (c.req.header("if-none-match")?.includes(etag)) return c.body(null, 304, all);
  return c.body(body, status, all);
}

interface MadePage {
  readonly status: 200 | 404;
  readonly body: string;
  readonly etag: string;
  /** After how many seconds the browser asks again, by itself. @default never */
  readonly renewSeconds?: number | undefined;
}

type MadeText = Omit<MadePage, "etag">;

const NEVER = new AbortController().signal;

/**
 * Keeps one revision of each page, of at most `most` pages with up to `maxLength` characters together. The
 * least recently used page goes first. @default 200 pages, 16 Mi
 */
export function createPageCache(maxLength = 16 * 1024 * 1024, most = 200) {
  const kept = new LRUCache<string, { readonly revision: string; readonly page: MadePage }>({
    max: most,
    maxSize: maxLength,
    sizeCalculation: ({ page }, key) => key.length + page.body.length,
  });
  const flights = createSingleFlight<MadePage>();

  return {
    /**
     * The page of a key for a revision: the stored page, a page that is being made for another reader, or the
     * result of `make`, whose signal is aborted when nobody waits any more. A page takes the place of its older
     * revision. A page that fails is not stored. `reader` is aborted when the reader leaves.
     */
    async find(
      key: string,
      revision: string,
      make: (signal: AbortSignal) => Promise<MadeText>,
      reader = NEVER,
    ): Promise<MadePage> {
      const stored = kept.get(key);
      if (stored?.revision === revision) return stored.page;
      const makeAndKeep = async (signal: AbortSignal) => {
        const { status, body, renewSeconds } = await make(signal);
        const page = { status, body, etag: entityTagOf(body), renewSeconds };
        kept.set(key, { revision, page });
        return page;
      };
      return flights.join(`${revision} ${key}`, makeAndKeep, reader);
    },
  };
}

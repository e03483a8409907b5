/**
 * How many pages are made at once, and which are kept. A page is kept until its figures change; equal requests share one
 * page; a reader who leaves frees the place. No page knows of this.
 */
import type { Context } from "hono";
import type { MirrorReader } from "../../store/connection/mirror-reader.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { findFreshness } from "../parts/freshness.ts";
import { PAGES_AT_ONCE } from "./bounds.ts";
import { createGate } from "./gate.ts";
import { createPageCache, type MadePage, type MadeText } from "./page-cache.ts";
import { whileRead } from "./reader-gone.ts";
import { createSingleFlight } from "./single-flight.ts";

type Found = Awaited<ReturnType<typeof findFreshness>>;

/** How pages read the mirror: few at once, and no longer than somebody waits for them. */
export interface KeptPages {
  /**
   * The page of a key, which holds everything that the page depends on, except the figures and the minute
   * that `now` is in. It is kept until these change, and made once for all who ask meanwhile.
   */
  find(
    c: Context,
    key: unknown,
    now: Date,
    make: (tx: TransactionSql, freshness: Found["freshness"]) => Promise<MadeText>,
  ): Promise<MadePage>;
  /** Reads a snapshot for a page that is not kept. */
  read<T>(c: Context, fn: (tx: TransactionSql) => Promise<T>): Promise<T>;
}

export function createKeptPages(mirror: MirrorReader): KeptPages {
  const gate = createGate(PAGES_AT_ONCE);
  const cache = createPageCache();
  // Few short questions, so they need no gate: a kept page does not wait for expensive ones.
  const revisions = createSingleFlight<Found>();

  return {
    async find(c, key, now, make) {
      const reader = whileRead(c.req.raw);
      const findNow = (tx: TransactionSql) => findFreshness(tx, now);
      const { revision } = await revisions.join(
        now.toISOString().slice(0, 16),
        (signal) => mirror.snapshot(findNow, signal),
        reader,
      );
      const makeBounded = (signal: AbortSignal) => {
        const read = async (tx: TransactionSql) => make(tx, (await findNow(tx)).freshness);
        return gate.pass(() => mirror.snapshot(read, signal), signal);
      };
      return cache.find(JSON.stringify(key), revision, makeBounded, reader);
    },
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
  const renewal = renewSeconds === null ? {} : { refresh: String(renewSeconds) };
  const all = { "cache-control": "no-cache", etag, ...renewal, ...headers };
  if (c.req.header("if-none-match")?.includes(etag)) return c.body(null, 304, all);
  return c.body(body, status, all);
}

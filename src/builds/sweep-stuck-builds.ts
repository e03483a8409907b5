import { ageMs } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { UpstreamError } from "../errors.ts";
import { type ParsedPage, parsePage } from "../walk/page.ts";
import { requestText } from "../walk/page-request.ts";
import { findDueStates } from "./find-due-builds.ts";
import type { PollOptions } from "./poll-open-builds.ts";

/** From so many due builds in a state on, its list costs less than their details, or than leaving them unseen for days. */
const WORTH_A_LIST = 200;
/** What a list did not show an hour ago, or where it broke off, it will not show now. */
const LISTED_WITHIN_MS = 3_600_000;
/** A state with more open builds than this is no list of hung builds. */
const MAX_BUILDS = 50_000;

export interface SweepOptions extends Omit<PollOptions, "maxDetails" | "maxStuck" | "until"> {
  /** Records asked for at once. */
  pageSize: number;
}

/**
 * Looks at stuck builds by the list of all builds in their state, where so many are due that their details would take hours: ten thousand
 * hung builds are a hundred pages once a day. Only where the service's own schema says that the list may be narrowed by `state`; a page
 * that shows another state ends it. It proves nothing of what it does not show: that stays due, and is asked for by its detail.
 */
export async function sweepStuckBuilds(options: SweepOptions): Promise<void> {
  const { sql, clock, log, startedAt, stuckAfterMs, patience = withStoreErrors } = options;
  const facts = { now: clock.now(), notSeenSince: startedAt, stuckAfterMs };
  const states = await patience("count stuck builds", () => findDueStates(sql, facts));
  const worth = states.filter(
    ({ due, open, listedAt }) =>
      due >= WORTH_A_LIST && open <= MAX_BUILDS && ageMs(listedAt, facts.now) >= LISTED_WITHIN_MS,
  );
  if (worth.length === 0) return;
  if (!(await patience("read the schema", () => mayFilterByState(sql)))) {
    // Said each round as long as it is so.
    const due = worth.reduce((sum, state) => sum + state.due, 0);
    log.debug({ due }, "the service does not offer the list of stuck builds: each waits for its turn");
    return;
  }
  for (const { state, due, open } of worth) {
    if (options.client.lost.aborted) return;
    try {
      const seen = await sweep(options, state, open);
      log.info({ state, due, seen }, "stuck builds were looked at by their list");
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      log.warn({ state, error: error.message }, "the list of stuck builds could not be read");
    }
  }
}

/** Reads the list of builds in a state, page by page; gives the number of records that came. */
async function sweep(
  { client, loader, log, signal, pageSize }: SweepOptions,
  state: string,
  open: number,
): Promise<number> {
  const others = new URLSearchParams({ format: "json", state }).toString();
  let offset = 0;
  // What is served beyond twice of what is known moves faster than it can be read.
  while (offset < 2 * open + pageSize) {
    signal.throwIfAborted();
    const request = requestText({ path: "/api/v1/build/", limit: pageSize, offset, others });
    const reply = await client.fetchJson<ParsedPage>(request, {
      parse: (value, url) => parsePage(value, "build", url),
    });
    const records = reply.value?.records ?? [];
    if (records.some((record) => (record as { state?: unknown } | null)?.state !== state)) {
      log.warn(
        { state },
        "the service does not narrow its list of builds by state, though its schema says so",
      );
      return offset;
    }
    const page = { records, request, askedAt: reply.sentAt, observedAt: reply.receivedAt };
    if (records.length > 0) await loader.load({ resource: "build", pages: [page], source: "list" });
    offset += records.length;
    if (records.length === 0 || reply.value?.meta.next === null) break;
  }
  return offset;
}

async function mayFilterByState(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ may: boolean }[]>`
    select coalesce(body -> 'filtering' ? 'state', false) as may from sync.upstream_schemas
    where resource = 'build' order by run_id desc limit 1`;
  return row?.may ?? false;
}

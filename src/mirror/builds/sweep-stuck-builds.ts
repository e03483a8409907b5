import { ageMs } from "../../base/clock.ts";
import { UpstreamError } from "../../base/errors.ts";
import { requestText } from "../../resources/page-request.ts";
import type { Sql } from "../../store/connection/sql.ts";
import type { RunParts } from "../load/run-parts.ts";
import { type ParsedPage, parseListPage } from "../walk/page.ts";
import { findDueStates } from "./find-due-builds.ts";

/** From this number of due builds on, the list of their state is cheaper than their details. */
const WORTH_A_LIST = 200;
/** A list that was read less than an hour ago is not read again, because it would show the same. */
const LISTED_WITHIN_MS = 3_600_000;
/** A state with more open builds than this does not hold hung builds only. */
const MAX_BUILDS = 50_000;

export interface SweepOptions {
  stuckAfterMs: number;
  /** The number of records in one request. */
  pageSize: number;
}

/**
 * Polls stuck builds by the list of all builds in their state, when so many are due that their details would
 * take hours: ten thousand hung builds are a hundred pages once a day. It needs a schema of the service that
 * allows the filter `state`; a page with another state ends it. A build that the list does not show stays
 * due, and its detail is requested.
 */
export async function sweepStuckBuilds(
  run: RunParts,
  { stuckAfterMs, pageSize }: SweepOptions,
): Promise<void> {
  const { sql, client, clock, log, startedAt, patience } = run;
  const facts = { now: clock.now(), notSeenSince: startedAt, stuckAfterMs };
  const states = await patience("count stuck builds", () => findDueStates(sql, facts));
  const worth = states.filter(
    ({ due, open, listedAt }) =>
      due >= WORTH_A_LIST && open <= MAX_BUILDS && ageMs(listedAt, facts.now) >= LISTED_WITHIN_MS,
  );
  if (worth.length === 0) return;
  if (!(await patience("read the schema", () => mayFilterByState(sql)))) {
    // Each round repeats this, so it is only a debug message.
    const due = worth.reduce((sum, state) => sum + state.due, 0);
    log.debug({ due }, "the service has no list of builds by state; stuck builds are polled one by one");
    return;
  }
  for (const { state, due, open } of worth) {
    if (client.lost.aborted) return;
    try {
      const seen = await sweep(run, pageSize, state, open);
      log.info({ state, due, seen }, "polled stuck builds by their list");
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      log.warn({ state, error: error.message }, "reading the list of stuck builds failed");
    }
  }
}

/** Reads the list of builds in a state, page by page. Returns the number of records. */
async function sweep(run: RunParts, pageSize: number, state: string, open: number): Promise<number> {
  const { client, loader, log, signal } = run;
  const others = new URLSearchParams({ format: "json", state }).toString();
  let offset = 0;
  // A list with more than twice the known builds changes faster than it can be read.
  while (offset < 2 * open + pageSize) {
    signal.throwIfAborted();
    const request = requestText({ path: "/api/v1/build/", limit: pageSize, offset, others });
    const reply = await client.fetchJson<ParsedPage>(request, {
      parse: (value, url) => parseListPage(value, "build", url, client.baseUrl),
    });
    const records = reply.value.records;
    if (records.some((record) => (record as { state?: unknown } | null)?.state !== state)) {
      log.warn(
        { state },
        "the service does not filter its list of builds by state, although its schema says so",
      );
      return offset;
    }
    const page = { records, request, askedAt: reply.sentAt, observedAt: reply.receivedAt };
    if (records.length > 0) await loader.load({ resource: "build", pages: [page], source: "list" });
    offset += records.length;
    if (records.length === 0 || reply.value.meta.next === null) break;
  }
  return offset;
}

async function mayFilterByState(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ may: boolean }[]>`
    select coalesce(body -> 'filtering' ? 'state', false) as may from sync.upstream_schemas
    where resource = 'build' order by run_id desc limit 1`;
  return row?.may ?? false;
}

import { ageMs } from "../../base/clock.ts";
import { UpstreamError } from "../../base/errors.ts";
import { requestText } from "../../resources/page-request.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { aboutList } from "../api/client.ts";
import { askDetail, type DetailAnswer } from "../api/fetch-detail.ts";
import { createPageSizes, findPageSize } from "../lists/page-sizes.ts";
import type { SyncSettings } from "../lists/plan.ts";
import { loadAnswers } from "../load/replica-lag.ts";
import type { RunParts } from "../load/run-parts.ts";
import { type ParsedPage, parseListPage } from "../walk/page.ts";
import { countDueBuilds, findDueBuilds, findDueStates, postponeBuilds } from "./find-due-builds.ts";

/** The number of details stored in one transaction. They are lost together if the process dies. */
const BATCH = 25;
/** From this number of due builds on, the list of their state is cheaper than their details. */
const WORTH_A_LIST = 200;
/** A list that was read less than an hour ago is not read again, because it would show the same. */
const LISTED_WITHIN_MS = 3_600_000;
/** A state with more open builds than this does not hold hung builds only. */
const MAX_BUILDS = 50_000;

interface FollowOptions {
  replicaLagMs: number;
  stuckAfterMs: number;
  pageSize: SyncSettings["pageSize"];
  /** The most details to request, those of stuck builds included. */
  maxDetails: number;
  maxStuck: number;
  /** After this time no further batch starts, except the first one. @default none */
  until?: Date;
}

/**
 * Polls due open builds that the run has not seen: many stuck ones by their list, others by their details. A build
 * whose detail answers 404 or 410 enters `vanished`, unless it was sighted within the lag of a replica: then it is
 * `waiting`. `due`: all that were; `unsettled`: due, but without a usable answer. Sends nothing once the host is lost. May be interrupted
 * at any point.
 */
export async function followOpenBuilds(given: RunParts, options: FollowOptions) {
  const run = aboutList(given, "build");
  const { sql, client, clock, log, signal, patience, startedAt } = run;
  const { stuckAfterMs, maxDetails, maxStuck, replicaLagMs } = options;
  const polled = { due: 0, asked: 0, gone: 0, waiting: 0, unsettled: 0 };
  const facts = { now: clock.now(), notSeenSince: startedAt, stuckAfterMs };
  polled.due = await patience("count the open builds that are due", () => countDueBuilds(sql, facts));
  // On most rounds.
  if (polled.due === 0) return polled;
  if (!client.lost.aborted) await sweepStuckBuilds(run, options);
  const due = await patience("find the open builds", () =>
    findDueBuilds(sql, { now: clock.now(), notSeenSince: startedAt, stuckAfterMs, maxDetails, maxStuck }),
  );
  const isLate = () => polled.asked > 0 && options.until !== undefined && clock.now() >= options.until;
  while (polled.asked < due.length && !client.lost.aborted && !isLate()) {
    signal.throwIfAborted();
    const batch = due.slice(polled.asked, polled.asked + BATCH).map(({ id }) => id);
    const answers = await Promise.all(batch.map((id) => ask(run, id)));
    polled.asked += batch.length;
    const countOf = (kind: DetailAnswer["kind"]) =>
      answers.filter(({ answer }) => answer.kind === kind).length;
    polled.gone += countOf("gone");
    polled.unsettled += countOf("unclear");
    const { gone, waiting } = await loadAnswers(run, { resource: "build", replicaLagMs }, answers);
    if (gone.length > 0) await run.loader.vanish(gone);
    polled.waiting += waiting.size;
    await patience("postpone builds", () =>
      postponeBuilds(sql, batch, { at: clock.now(), notSeenSince: startedAt }),
    );
  }
  // The next round polls the builds that a late round did not reach.
  if (client.lost.aborted) polled.unsettled += due.length - polled.asked;
  if (polled.asked > 0) log.debug({ ...polled }, "polled open builds");
  return polled;
}

async function ask({ client, log }: RunParts, id: string) {
  // One retry is enough, because the next round asks again.
  const answer = await askDetail(client, "build", id, { retries: 1 });
  if (answer.kind === "unclear" && answer.error)
    log.warn({ id, error: answer.error.message }, "polling an open build failed");
  return { id, answer };
}

/** By the list of their state, where details would take hours. A build that the list does not show stays due. */
async function sweepStuckBuilds(run: RunParts, { stuckAfterMs, pageSize }: FollowOptions): Promise<void> {
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
  const largest = await findPageSize(createPageSizes(run), pageSize, "build");
  for (const { state, due, open } of worth) {
    if (client.lost.aborted) return;
    try {
      const seen = await sweep(run, largest, state, open);
      log.info({ state, due, seen }, "polled stuck builds by their list");
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      log.warn({ state, error: error.message }, "reading the list of stuck builds failed");
    }
  }
}

async function sweep(run: RunParts, pageSize: number, state: string, open: number): Promise<number> {
  const { client, loader, log, signal } = run;
  const others = new URLSearchParams({ format: "json", state }).toString();
  let offset = 0;
  // A list with more than twice the known builds changes faster than it can be read.
  while (offset < 2 * open + pageSize) {
    signal.throwIfAborted();
    const request = requestText({ path: "/api/v1/build/", limit: pageSize, offset, others });
    const reply = await client.fetchJson<ParsedPage>(request, {
      parse: (value, url) => parseListPage(value, "build", url, client),
    });
    const records = reply.value.records;
    if (records.some((record) => (record as { state?: unknown } | null)?.state !== state)) {
      const message = "the service does not filter its list of builds by state, although its schema says so";
      log.warn({ state }, message);
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

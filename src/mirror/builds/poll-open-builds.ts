import { askDetail, type DetailAnswer } from "../api/fetch-detail.ts";
import type { LoadablePage } from "../load/loader.ts";
import type { BuildSighting } from "../load/record-transitions.ts";
import { findSightedWithin } from "../load/replica-lag.ts";
import type { RunParts } from "../load/run-parts.ts";
import { findDueBuilds, postponeBuilds } from "./find-due-builds.ts";

/** The number of details stored in one transaction. They are lost together if the process dies. */
const BATCH = 25;
/** One retry is enough, because the next round asks again. */
const RETRIES = 1;

/** Builds that the run has seen since `startedAt` are not polled again. */
export interface PollOptions {
  /** How far a replica of the service may be behind. */
  replicaLagMs: number;
  stuckAfterMs: number;
  /** The most details to request, those of stuck builds included. */
  maxDetails: number;
  /** The most stuck builds. */
  maxStuck: number;
  /**
   * After this time no further batch starts, so that a slow pace cannot make a round endless. The first batch
   * always runs.
   * @default none
   */
  until?: Date;
}

export interface Polled {
  asked: number;
  /** Builds whose detail answered 404 or 410. */
  gone: number;
  /** How many of them wait, because they were sighted within the lag of a replica. */
  waiting: number;
  /** Builds that were due but gave no usable answer. */
  unsettled: number;
}

type Asked = { id: string; answer: DetailAnswer };

/**
 * Polls the detail of each open build that is due, and loads it. So a run that did not read the whole list
 * still sees transitions. A build whose detail answers 404 or 410 enters `vanished`, unless it was sighted
 * within the lag of a replica. A build without an answer stays as it is. Sends nothing once the host is lost.
 * May be interrupted at any point.
 */
export async function pollOpenBuilds(run: RunParts, options: PollOptions): Promise<Polled> {
  const { sql, client, clock, log, signal, patience, startedAt } = run;
  const { stuckAfterMs, maxDetails, maxStuck, replicaLagMs } = options;
  const due = await patience("find the open builds", () =>
    findDueBuilds(sql, { now: clock.now(), notSeenSince: startedAt, stuckAfterMs, maxDetails, maxStuck }),
  );
  const polled: Polled = { asked: 0, gone: 0, waiting: 0, unsettled: 0 };
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
    polled.waiting += await settle(run, replicaLagMs, answers);
  }
  // The next round polls the builds that a late round did not reach.
  if (client.lost.aborted) polled.unsettled += due.length - polled.asked;
  if (polled.asked > 0) log.debug({ ...polled }, "polled open builds");
  return polled;
}

async function ask({ client, log }: RunParts, id: string): Promise<Asked> {
  const answer = await askDetail(client, "build", id, { retries: RETRIES });
  if (answer.kind === "unclear" && answer.error) {
    log.warn({ id, error: answer.error.message }, "polling an open build failed");
  }
  return { id, answer };
}

/** Stores the results of a batch. Returns how many of its builds wait. */
async function settle(run: RunParts, replicaLagMs: number, batch: readonly Asked[]): Promise<number> {
  const { sql, loader, clock, startedAt, runId, patience } = run;
  const pages: LoadablePage[] = [];
  const gone: BuildSighting[] = [];
  for (const { id, answer } of batch) {
    if (answer.kind === "found") pages.push({ ...answer.detail, records: [answer.detail.record] });
    if (answer.kind !== "gone") continue;
    const { request, askedAt, observedAt } = answer;
    gone.push({ id, request, askedAt: askedAt.toISOString(), observedAt: observedAt.toISOString() });
  }
  if (pages.length > 0) await loader.load({ resource: "build", pages, source: "detail" });
  const waiting = await patience("find the last sightings", () =>
    findSightedWithin(sql, { resource: "build", runId, replicaLagMs }, gone),
  );
  const proven = gone.filter(({ id }) => !waiting.has(id));
  if (proven.length > 0) await loader.vanish(proven);
  const ids = batch.map(({ id }) => id);
  await patience("postpone builds", () =>
    postponeBuilds(sql, ids, { at: clock.now(), notSeenSince: startedAt }),
  );
  return waiting.size;
}

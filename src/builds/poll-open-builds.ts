import type { Client } from "../api/client.ts";
import { detailPath, fetchDetail } from "../api/fetch-detail.ts";
import type { Clock } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { HttpStatusError, isUpstreamLost, UpstreamError } from "../errors.ts";
import type { LoadablePage, Loader } from "../load/loader.ts";
import type { BuildSighting } from "../load/record-transitions.ts";
import type { Logger } from "../log.ts";
import { recordId } from "../wire/record-id.ts";
import { type DueBuild, findDueBuilds, noteAsked } from "./find-due-builds.ts";

/** Details that are stored together, and lost together when the process dies. */
const BATCH = 25;
/** The next round asks again. */
const RETRIES = 1;

export interface PollOptions {
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  /** When the run began that polls: what it has seen since is not asked for again. */
  startedAt: Date;
  stuckAfterMs: number;
  /** Details asked for at most, those of stuck builds included. */
  maxDetails: number;
  /** Of stuck builds at most so many. */
  maxStuck: number;
  /** The time after which no more are asked for than the first 25: a slowed pace must not make a round endless. @default none */
  until?: Date;
  /** What to do when the database is away for a moment. @default the round fails */
  patience?: Patience;
}

export interface Polled {
  asked: number;
  /** Builds that answered 404 or 410. */
  gone: number;
  /** The failure by which the service is out of reach; null when it is not. */
  lostBy: UpstreamError | null;
}

type Answer =
  | { kind: "found"; page: LoadablePage }
  | { kind: "gone"; sighting: BuildSighting }
  | { kind: "unclear"; error: UpstreamError | null };

/**
 * Asks for each open build that is due by its detail endpoint and loads what came, so that a run that did not read the whole list still
 * sees builds move. One that answers 404 or 410 vanishes; one that does not answer stays as it is. Stops when the service is
 * lost. Safe to break off anywhere.
 */
export async function pollOpenBuilds(options: PollOptions): Promise<Polled> {
  const { sql, clock, log, signal, patience = withStoreErrors } = options;
  const { startedAt, stuckAfterMs, maxDetails, maxStuck } = options;
  const due = await patience("find the open builds", () =>
    findDueBuilds(sql, { now: clock.now(), notSeenSince: startedAt, stuckAfterMs, maxDetails, maxStuck }),
  );
  const polled: Polled = { asked: 0, gone: 0, lostBy: null };
  const isLate = () => polled.asked > 0 && options.until !== undefined && clock.now() >= options.until;
  while (polled.asked < due.length && polled.lostBy === null && !isLate()) {
    signal.throwIfAborted();
    const batch = due.slice(polled.asked, polled.asked + BATCH);
    const answers = await Promise.all(batch.map(({ id }) => ask(options, id)));
    polled.asked += batch.length;
    polled.gone += answers.filter(({ kind }) => kind === "gone").length;
    await settle(options, batch, answers);
    for (const answer of answers) {
      if (answer.kind === "unclear" && isUpstreamLost(answer.error)) polled.lostBy ??= answer.error;
    }
  }
  if (polled.asked > 0) log.debug({ asked: polled.asked, gone: polled.gone }, "open builds were asked for");
  return polled;
}

async function ask({ client, clock, log }: PollOptions, id: string): Promise<Answer> {
  const askedAt = clock.now().toISOString();
  try {
    const detail = await fetchDetail(client, "build", id, { retries: RETRIES });
    if (recordId(detail.record) !== id) return { kind: "unclear", error: null };
    return { kind: "found", page: { ...detail, records: [detail.record] } };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const status = error instanceof HttpStatusError ? error.status : null;
    if (status === 404 || status === 410) {
      const observedAt = clock.now().toISOString();
      return { kind: "gone", sighting: { id, askedAt, observedAt, request: detailPath("build", id) } };
    }
    log.warn({ buildId: id, status, error: error.message }, "an open build could not be asked for");
    return { kind: "unclear", error };
  }
}

/** Writes down what a batch of answers tells. */
async function settle(
  options: PollOptions,
  asked: readonly DueBuild[],
  answers: readonly Answer[],
): Promise<void> {
  const { sql, loader, clock, startedAt, patience = withStoreErrors } = options;
  const pages = answers.flatMap((answer) => (answer.kind === "found" ? [answer.page] : []));
  const gone = answers.flatMap((answer) => (answer.kind === "gone" ? [answer.sighting] : []));
  if (pages.length > 0) await loader.load({ resource: "build", pages, source: "detail" });
  if (gone.length > 0) await loader.vanish(gone);
  const ids = asked.map(({ id }) => id);
  await patience("put builds off", () => noteAsked(sql, ids, { at: clock.now(), notSeenSince: startedAt }));
}

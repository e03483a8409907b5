import { askDetail, type DetailAnswer } from "../api/ask-detail.ts";
import type { Client } from "../api/client.ts";
import type { Clock } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import type { LoadablePage, Loader } from "../load/loader.ts";
import type { BuildSighting } from "../load/record-transitions.ts";
import type { Logger } from "../log.ts";
import { findDueBuilds, noteAsked } from "./find-due-builds.ts";

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
  /** Builds whose turn it was, and of which no answer came that can be used. */
  unsettled: number;
}

type Asked = { id: string; answer: DetailAnswer };

/**
 * Asks for each open build that is due by its detail endpoint and loads what came, so that a run that did not read the whole list still
 * sees builds move. One that answers 404 or 410 vanishes; one that does not answer stays as it is. Asks for nothing once the host is
 * lost. Safe to break off anywhere.
 */
export async function pollOpenBuilds(options: PollOptions): Promise<Polled> {
  const { sql, client, clock, log, signal, patience = withStoreErrors } = options;
  const { startedAt, stuckAfterMs, maxDetails, maxStuck } = options;
  const due = await patience("find the open builds", () =>
    findDueBuilds(sql, { now: clock.now(), notSeenSince: startedAt, stuckAfterMs, maxDetails, maxStuck }),
  );
  const polled: Polled = { asked: 0, gone: 0, unsettled: 0 };
  const isLate = () => polled.asked > 0 && options.until !== undefined && clock.now() >= options.until;
  while (polled.asked < due.length && !client.lost.aborted && !isLate()) {
    signal.throwIfAborted();
    const batch = due.slice(polled.asked, polled.asked + BATCH).map(({ id }) => id);
    const answers = await Promise.all(batch.map((id) => ask(options, id)));
    polled.asked += batch.length;
    const countOf = (kind: DetailAnswer["kind"]) =>
      answers.filter(({ answer }) => answer.kind === kind).length;
    polled.gone += countOf("gone");
    polled.unsettled += countOf("unclear");
    await settle(options, answers);
  }
  // Those that a late round leaves have their turn in the next one.
  if (client.lost.aborted) polled.unsettled += due.length - polled.asked;
  if (polled.asked > 0) log.debug({ ...polled }, "open builds were asked for");
  return polled;
}

async function ask({ client, log }: PollOptions, id: string): Promise<Asked> {
  const answer = await askDetail(client, "build", id, { retries: RETRIES });
  if (answer.kind === "unclear" && answer.error) {
    log.warn({ buildId: id, error: answer.error.message }, "an open build could not be asked for");
  }
  return { id, answer };
}

/** Writes down what a batch of answers says. */
async function settle(options: PollOptions, batch: readonly Asked[]): Promise<void> {
  const { sql, loader, clock, startedAt, patience = withStoreErrors } = options;
  const pages: LoadablePage[] = [];
  const gone: BuildSighting[] = [];
  for (const { id, answer } of batch) {
    if (answer.kind === "found") pages.push({ ...answer.detail, records: [answer.detail.record] });
    if (answer.kind !== "gone") continue;
    const { request, askedAt, observedAt } = answer;
    gone.push({ id, request, askedAt: askedAt.toISOString(), observedAt: observedAt.toISOString() });
  }
  if (pages.length > 0) await loader.load({ resource: "build", pages, source: "detail" });
  if (gone.length > 0) await loader.vanish(gone);
  const ids = batch.map(({ id }) => id);
  await patience("put builds off", () => noteAsked(sql, ids, { at: clock.now(), notSeenSince: startedAt }));
}

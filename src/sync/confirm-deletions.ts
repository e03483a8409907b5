import type { Client } from "../api/client.ts";
import { detailPath, fetchDetail } from "../api/fetch-detail.ts";
import type { Clock } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import { addDeleted } from "../db/run-ledger.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { HttpStatusError, isUpstreamLost, UpstreamError } from "../errors.ts";
import type { LoadablePage, Loader } from "../load/loader.ts";
import type { Observation } from "../load/sighting.ts";
import type { Logger } from "../log.ts";
import { recordId } from "../wire/record-id.ts";
import type { Resource } from "../wire/resources.ts";
import {
  countMissing,
  findMissing,
  forgetMissing,
  type MissingRecord,
  noteAsked,
} from "./missing-records.ts";

/** Details asked for in one run at most; what is left over is asked for by the next. */
const MAX_DETAILS = 2000;
const BATCH = 50;

export interface ConfirmOptions {
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  runId: number;
  /**
   * The lists that this run saw whole, or joined at the head. What is missing from any other list is left alone: a list that cannot be
   * read today is no day to delete.
   */
  resources: readonly Resource[];
  /** Told of deletions as they are committed. */
  onDeleted(resource: Resource, count: number): void;
  /** Told in a sentence what the run should say of records that are left over. */
  warn(message: string): void;
  /** Details asked for at most, all resources together. @default 2000 */
  maxDetails?: number;
  /** What to do when the database is away for a moment. @default the work fails */
  patience?: Patience;
}

type Answer = MissingRecord &
  (
    | ({ kind: "gone" } & Observation)
    | { kind: "found"; page: LoadablePage }
    | { kind: "unclear" }
    | { kind: "lost" }
  );

/**
 * Asks for the records that a whole walk missed by their detail endpoints. One that answers 404 or 410 is deleted, one that comes is
 * not missing and is loaded, every other answer settles nothing and leaves the record to the next run. Stops asking
 * when upstream is lost. Returns how many are left. Safe to repeat and to break off anywhere: what a batch
 * settled is committed with it.
 */
export async function confirmDeletions(options: ConfirmOptions): Promise<number> {
  const { sql, log, signal, resources, patience = withStoreErrors } = options;
  const missing = await patience("find missing records", () =>
    findMissing(sql, resources, options.maxDetails ?? MAX_DETAILS),
  );
  if (missing.length === 0) return 0;
  let isLost = false;
  for (let asked = 0; asked < missing.length && !isLost; asked += BATCH) {
    signal.throwIfAborted();
    const batch = missing.slice(asked, asked + BATCH);
    const answers = await Promise.all(batch.map((record) => ask(options, record)));
    await settle(options, answers);
    isLost = answers.some(({ kind }) => kind === "lost");
  }
  const left = await patience("count missing records", () => countMissing(sql, resources));
  log.info({ asked: missing.length, left }, "records that the lists miss were asked for");
  if (left > 0) {
    options.warn(
      `${left.toLocaleString("en-US")} of the records that their lists no longer show could not be settled by their ` +
        "details: they stay, and the next run asks for them",
    );
  }
  return left;
}

async function ask({ client, clock, log }: ConfirmOptions, missing: MissingRecord): Promise<Answer> {
  const { resource, id } = missing;
  const askedAt = clock.now().toISOString();
  try {
    const detail = await fetchDetail(client, resource, id);
    // A slug or a list may stand behind the address: only the record itself proves that it is there.
    if (recordId(detail.record) !== id) return { ...missing, kind: "unclear" };
    return { ...missing, kind: "found", page: { ...detail, records: [detail.record] } };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const status = error instanceof HttpStatusError ? error.status : null;
    if (status === 404 || status === 410) {
      const request = detailPath(resource, id);
      return { ...missing, kind: "gone", askedAt, observedAt: clock.now().toISOString(), request };
    }
    log.warn({ resource, id, status, error: error.message }, "a missing record could not be asked for");
    return { ...missing, kind: isUpstreamLost(error) ? "lost" : "unclear" };
  }
}

/** Writes down what a batch of answers settles. */
async function settle(options: ConfirmOptions, answers: readonly Answer[]): Promise<void> {
  const { loader, clock, runId, resources } = options;
  const found = answers.filter((answer) => answer.kind === "found");
  for (const resource of resources) {
    const of = found.filter((answer) => answer.resource === resource);
    if (of.length === 0) continue;
    await loader.load({ resource, pages: of.map(({ page }) => page), source: "detail" }, (tx) =>
      forgetMissing(
        tx,
        resource,
        of.map(({ id }) => id),
      ),
    );
  }
  const gone = answers.filter((answer) => answer.kind === "gone");
  const unclear = answers.filter(({ kind }) => kind === "unclear");
  const { counts: deleted } = await loader.retire(gone, async (tx, counts) => {
    for (const resource of resources) {
      if (counts[resource]) await addDeleted(tx, runId, resource, counts[resource]);
    }
    await noteAsked(tx, unclear, clock.now().toISOString());
  });
  for (const resource of resources) {
    if (deleted[resource]) options.onDeleted(resource, deleted[resource]);
  }
}

import { askDetail, type DetailAnswer } from "../api/ask-detail.ts";
import type { Client } from "../api/client.ts";
import type { Clock } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import { addDeleted } from "../db/run-ledger.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import type { LoadablePage, Loader } from "../load/loader.ts";
import type { GoneRecord } from "../load/retire-records.ts";
import type { Logger } from "../log.ts";
import type { Resource } from "../wire/resources.ts";
import { countUnsettled, findMissing, type MissingRecord, noteAsked } from "./missing-records.ts";

/** Details asked for in one run at most; what is left over is asked for by the next. */
const MAX_DETAILS = 2000;
const BATCH = 50;
/** A slow service must not make a night endless. */
const MAX_MS = 30 * 60_000;

export interface ConfirmOptions {
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  runId: number;
  /** When the run began: an older answer, which a cache may give, says nothing of a record that its walk missed. */
  startedAt: Date;
  /**
   * The lists that this run saw whole, or joined at the head. What is missing from any other list is left alone: a list that cannot be
   * read today is no day to delete.
   */
  resources: readonly Resource[];
  /** Called with the deletions as they are committed. */
  onDeleted(resource: Resource, count: number): void;
  /** Details asked for at most, all resources together. @default 2000 */
  maxDetails?: number;
  /** What to do when the database is away for a moment. @default the work fails */
  patience?: Patience;
}

type Asked = MissingRecord & { answer: DetailAnswer };

/**
 * Asks for the records that a whole walk missed by their detail endpoints. One that answers 404 or 410 is deleted. One that comes is
 * loaded: its list hides it. Every other answer settles nothing, and the record waits behind those that were not asked for yet. Stops
 * when the host is lost, or after half an hour. Returns how many records are not settled. Safe to repeat and to break off anywhere: what
 * a batch settled is committed with it.
 */
export async function confirmDeletions(options: ConfirmOptions): Promise<number> {
  const { sql, client, clock, log, signal, resources, patience = withStoreErrors } = options;
  const now = clock.now();
  const missing = await patience("find missing records", () =>
    findMissing(sql, resources, { limit: options.maxDetails ?? MAX_DETAILS, now: now.toISOString() }),
  );
  const endsAt = now.getTime() + MAX_MS;
  let asked = 0;
  while (asked < missing.length && !client.lost.aborted && clock.now().getTime() < endsAt) {
    signal.throwIfAborted();
    const batch = missing.slice(asked, asked + BATCH);
    asked += batch.length;
    await settle(options, await Promise.all(batch.map((record) => ask(options, record))));
  }
  const unsettled = await patience("count missing records", () => countUnsettled(sql));
  if (asked > 0) log.info({ asked, unsettled }, "asked for the records that their lists no longer show");
  return unsettled;
}

async function ask({ client, log, startedAt }: ConfirmOptions, missing: MissingRecord): Promise<Asked> {
  const { resource, id } = missing;
  const answer = await askDetail(client, resource, id);
  if (answer.kind === "gone" && answer.askedAt < startedAt) {
    log.warn({ resource, id }, "a cache answered that a missing record is gone, from before the run");
    return { ...missing, answer: { kind: "unclear", error: null } };
  }
  if (answer.kind === "unclear") {
    log.warn({ resource, id, error: answer.error?.message }, "a missing record could not be asked for");
  }
  return { ...missing, answer };
}

/** Writes down what a batch of answers settles. */
async function settle(options: ConfirmOptions, batch: readonly Asked[]): Promise<void> {
  const { loader, clock, runId, resources } = options;
  const pages: Record<string, LoadablePage[]> = {};
  const gone: GoneRecord[] = [];
  for (const { resource, id, answer } of batch) {
    if (answer.kind === "found") {
      const { detail } = answer;
      pages[resource] = [...(pages[resource] ?? []), { ...detail, records: [detail.record] }];
    }
    if (answer.kind !== "gone") continue;
    const { request, askedAt, observedAt } = answer;
    gone.push({
      ...{ resource, id, request },
      askedAt: askedAt.toISOString(),
      observedAt: observedAt.toISOString(),
    });
  }
  for (const resource of resources) {
    const of = pages[resource];
    if (of) await loader.load({ resource, pages: of, source: "detail" });
  }
  const asked = batch.map(({ resource, id, answer }) => ({ resource, id, found: answer.kind === "found" }));
  const { counts: deleted } = await loader.retire(gone, async (tx, counts) => {
    for (const resource of resources) {
      if (counts[resource]) await addDeleted(tx, runId, resource, counts[resource]);
    }
    await noteAsked(tx, asked, clock.now().toISOString());
  });
  for (const resource of resources) {
    if (deleted[resource]) options.onDeleted(resource, deleted[resource]);
  }
}

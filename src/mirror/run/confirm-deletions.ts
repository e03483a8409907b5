import type { UpstreamError } from "../../base/errors.ts";
import type { Resource } from "../../resources/resources.ts";
import { addDeleted } from "../../store/ledger/run-ledger.ts";
import { aboutList } from "../api/client.ts";
import { isRefusal, isUpstreamLost } from "../api/fates.ts";
import { askDetail, askInBatches, type DetailAnswer } from "../api/fetch-detail.ts";
import {
  ALWAYS_ALLOWED,
  type AskedRecord,
  countUnsettled,
  findMissing,
  type MissingRecord,
  recordAsked,
} from "../lists/missing-records.ts";
import { findSomeShown } from "../load/live-count.ts";
import { loadAnswers } from "../load/replica-lag.ts";
import type { GoneRecord } from "../load/retire-records.ts";
import type { RunParts } from "../load/run-parts.ts";

/** The most details requested in one run. The next run requests the rest. */
const MAX_DETAILS = 2000;
const BATCH = 50;

export interface ConfirmOptions {
  /** The lists that were read whole or joined at the head. Nothing of the others is deleted today. */
  resources: readonly Resource[];
  replicaLagMs: number;
  onDeleted(resource: Resource, count: number): void;
  /** @default 2000 */
  maxDetails?: number;
  /** Asks only for those that were never asked for, and counts these and its own. @default false */
  onlyNew?: boolean;
}

type Answered = MissingRecord & { answer: DetailAnswer };

/**
 * Requests the details of missing records. One whose detail answers 404 or 410 is deleted, unless it was sighted
 * within the lag of a replica. One that is returned is loaded: its list hides it. Any other answer decides nothing,
 * and after three runs the record is kept. More of a list than may always go are asked for only while a detail of what
 * it shows is there, because a service may answer 404 to all details. Returns how many are undecided, and how many wait
 * for the lag. Safe to interrupt: each batch is committed by itself.
 */
export async function confirmDeletions(run: RunParts, options: ConfirmOptions) {
  const { sql, clock, log, patience, runId } = run;
  const { resources, maxDetails: limit = MAX_DETAILS, onlyNew = false } = options;
  const now = clock.now().toISOString();
  const count = () => patience("count missing records", () => countUnsettled(sql, onlyNew ? runId : null));
  const { missing: noted, ...before } = await count();
  // On most nights.
  if (noted === 0) return before;
  const missing = await patience("find missing records", () =>
    findMissing(sql, resources, { limit, onlyNew, now }),
  );
  const unproven = new Set<Resource>();
  for (const resource of resources) {
    const isMany = missing.filter((one) => one.resource === resource).length > ALWAYS_ALLOWED;
    if (isMany && !(await showsDetails(run, resource))) unproven.add(resource);
  }
  const provable = missing.filter(({ resource }) => !unproven.has(resource));
  const requested = await askInBatches(run, provable, BATCH, async (batch) =>
    settle(run, options, await Promise.all(batch.map((record) => ask(run, record)))),
  );
  if (requested === 0) return before;
  const { missing: _, ...left } = await count();
  log.info({ asked: requested, ...left }, "requested the details of missing records");
  return left;
}

/** Tries the details of three records that the list shows. True where one of them is there. */
async function showsDetails(run: RunParts, resource: Resource): Promise<boolean> {
  const { client, log } = aboutList(run, resource);
  const ids = await run.patience("find records that are there", () =>
    findSomeShown(run.sql, resource, run.runId),
  );
  for (const id of ids) if ((await askDetail(client, resource, id)).kind === "found") return true;
  log.warn(
    { tried: ids },
    "no detail of what the list shows is there, so none of its missing records is asked for",
  );
  return false;
}

async function ask(run: RunParts, missing: MissingRecord): Promise<Answered> {
  const { resource, id } = missing;
  const { client, log } = aboutList(run, resource);
  const answer = await askDetail(client, resource, id);
  // A cached answer from before the run says nothing about a record that this run's walk missed.
  if (answer.kind === "gone" && answer.askedAt < run.startedAt) {
    log.warn({ id }, "ignored a cached answer from before the run that a missing record is gone");
    return { ...missing, answer: { kind: "unclear", error: null } };
  }
  if (answer.kind === "unclear")
    log.warn({ id, error: answer.error?.message }, "requesting a missing record failed");
  return { ...missing, answer };
}

async function settle(run: RunParts, options: ConfirmOptions, batch: readonly Answered[]): Promise<void> {
  const { loader, client, clock, runId } = run;
  const { resources, replicaLagMs } = options;
  const at = clock.now().toISOString();
  const gone: GoneRecord[] = [];
  const waiting: Answered[] = [];
  for (const resource of resources) {
    const own = batch.filter((record) => record.resource === resource);
    const answered = await loadAnswers(run, { resource, replicaLagMs }, own);
    gone.push(...answered.gone.map((record) => ({ resource, ...record })));
    waiting.push(...own.filter(({ id }) => answered.waiting.has(id)));
  }
  // A service that answers, though not for these records, is up: then the fault lies in the records.
  const isSomeLost = batch.some(({ answer }) => answer.kind === "unclear" && isLost(answer.error));
  const isUp = isSomeLost && (await client.isUp(run.signal));
  const outcomeOf = (one: Answered): AskedRecord["outcome"] => {
    const { answer } = one;
    if (answer.kind === "found") return "found";
    if (waiting.includes(one)) return "waiting";
    if (client.lost.aborted) return "silent";
    if (answer.kind !== "unclear") return "undecided";
    return isRefusal(answer.error) || (isLost(answer.error) && !isUp) ? "silent" : "undecided";
  };
  const asked = batch.map((one) => ({ resource: one.resource, id: one.id, outcome: outcomeOf(one) }));
  const { counts: deleted } = await loader.retire(gone, async (tx, counts) => {
    for (const resource of resources)
      if (counts[resource]) await addDeleted(tx, runId, resource, counts[resource]);
    await recordAsked(tx, asked, at);
  });
  for (const resource of resources) if (deleted[resource]) options.onDeleted(resource, deleted[resource]);
}

/** Nothing answered about this record, unless the root still answers. */
function isLost(error: UpstreamError | null): boolean {
  return isUpstreamLost(error) && !isRefusal(error);
}

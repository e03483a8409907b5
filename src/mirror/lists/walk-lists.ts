import type { UpstreamError } from "../../base/errors.ts";
import type { Resource } from "../../resources/resources.ts";
import { withTransaction } from "../../store/connection/sql.ts";
import { finishWalk, type ResumableWalk } from "../../store/ledger/run-ledger.ts";
import type { Unfinished } from "../../store/schema/runs.ts";
import { aboutList } from "../api/client.ts";
import { countRows, countShown, setLive } from "../load/live-count.ts";
import { createPageMemory } from "../load/page-memory.ts";
import { countUnstored, resolveHoles } from "../load/quarantine.ts";
import { recordSeen } from "../load/record-transitions.ts";
import type { RunParts } from "../load/run-parts.ts";
import { createLookAheadRoom, lookAheadOf } from "../walk/page.ts";
import { BASE_SIZE } from "../walk/page-size.ts";
import { forgetSeen, recordMissing } from "./missing-records.ts";
import type { SyncSettings, WalkPlan } from "./plan.ts";
import { readHead } from "./read-head.ts";
import { describeCut, readList } from "./read-list.ts";
import type { Reading, WalkOptions } from "./settle-pages.ts";
import { emptyCounts, type RunSummary } from "./summary.ts";

/** `abort` is aborted with the first failure, so that no walk continues in vain. */
type WalkingParts = RunParts & Pick<WalkOptions, "meters" | "warn"> & { abort: AbortController };

interface WalkListsOptions extends Pick<WalkOptions, "allowMassDelete"> {
  walks: readonly WalkPlan[];
  settings: Pick<
    SyncSettings,
    "pageSize" | "concurrency" | "maxDeleteRatio" | "deleteHeldAfterMs" | "replicaLagMs"
  >;
  resumable: readonly ResumableWalk[];
  resources: RunSummary["resources"];
  unfinished: Pick<Unfinished, "deficit">;
  onProgress: ((resource: Resource, ...counts: Parameters<WalkOptions["onProgress"]>) => void) | undefined;
}

/** Runs the walks at the same time, and returns the first failure of upstream. Throws any other after all have ended. */
export async function walkLists(run: WalkingParts, options: WalkListsOptions): Promise<UpstreamError | null> {
  const { walks, settings, allowMassDelete, resumable, resources, unfinished, onProgress } = options;
  const room = createLookAheadRoom();
  // The last list has the heaviest records: what its first page shows is where those of which nothing is known begin.
  const scout = walks.at(-1)?.kind === "full" ? walks.at(-1) : undefined;
  let onStart = (_size?: number): void => {};
  const found = new Promise<number>((resolve) => {
    onStart = (size = BASE_SIZE) => resolve(size);
  });
  const walkOne = async (plan: WalkPlan): Promise<UpstreamError | null> => {
    const { resource } = plan;
    try {
      const { summary, deficit, brokenBy } = await walkResource(aboutList(run, resource), {
        ...{ ...settings, lookAhead: lookAheadOf(settings.concurrency) },
        ...{ plan, room, allowMassDelete, meters: run.meters, warn: run.warn },
        ...(plan === scout ? { onStart } : { startSize: scout && found }),
        resume: resumable.find((walk) => walk.resource === resource) ?? null,
        onProgress(counts, totalCount) {
          const reason = `${resource} list: the walk was not finished`;
          resources[resource] = { walk: "not_whole", reason, ...counts, total_count: totalCount };
          onProgress?.(resource, counts, totalCount);
        },
      });
      resources[resource] = summary;
      unfinished.deficit += deficit;
      return brokenBy;
    } catch (reason) {
      run.abort.abort(reason);
      throw reason;
    } finally {
      if (plan === scout) onStart();
    }
  };
  let failure: UpstreamError | null = null;
  for (const walked of await Promise.allSettled(walks.map(walkOne))) {
    if (walked.status === "rejected") throw walked.reason;
    failure ??= walked.value;
  }
  return failure;
}

/** When upstream fails, the walk ends as `not_whole` and keeps its checkpoint; any other failure is thrown. */
async function walkResource(run: RunParts, options: WalkOptions): ReturnType<typeof closeWalk> {
  const { plan } = options;
  if (plan.kind === "full") return closeWalk(run, options, await readList(run, options, emptyCounts()), true);
  const head = await readHead(run, options);
  const { outcome, deficit, explained, distrust } = head;
  const isNightly = plan.mayWalkInFull || plan.roundDays !== null;
  if (distrust && isNightly) {
    run.log.info({ why: distrust }, "the head of the list cannot be trusted; reading it in full");
    return closeWalk(run, options, await readList(run, options, head.counts), true);
  }
  if (outcome.walk !== "head" || deficit === explained || !plan.mayWalkInFull)
    return closeWalk(run, options, head, false);
  run.log.info({ deficit, explained }, "the count of the head does not agree; reading the list in full");
  return closeWalk(run, options, await readList(run, options, head.counts), true);
}

/**
 * Ends a walk in one transaction: stores what a whole walk did not show as missing, resolves the holes, and stores
 * how the walk ended. A whole walk without any record is not accepted when records are known. The `deficit` is that of
 * `Unfinished`: 0 where the count was not compared.
 */
async function closeWalk(run: RunParts, options: WalkOptions, reading: Reading, isFull: boolean) {
  const { sql, clock, log, runId, patience } = run;
  const { resource, listPath } = options.plan;
  const { start, seen, counts, brokenBy } = reading;
  const finishedAt = clock.now().toISOString();
  let { outcome } = reading;
  // An earlier reading of a head may have seen some.
  const isEmptied = outcome.walk === "whole" && outcome.records === 0;
  const known = isEmptied ? await patience("count records", () => countRows(sql, resource)) : 0;
  if (known > 0) {
    const reason = `${resource} list: it should hold the ${known} records that are known, but came empty; nothing is deleted`;
    outcome = { ...outcome, walk: "not_whole", reason };
  }
  // The earlier part of a resumed walk did not say how the count moved.
  const counted = start.beganRunId === runId ? outcome.totalCount : null;
  const isRead = outcome.walk === "whole" && counted !== null;
  const unshown = isRead ? beyondMoves(counted - seen.size, reading.moved) : 0;
  const gap = unshown === 0 || counted === null ? null : { resource, counted, shown: seen.size };
  const cut = gap && describeCut(gap, unshown - reading.repeated.size);
  if (cut !== null) outcome = { ...outcome, walk: "not_whole", reason: cut };
  const held = await patience("close a walk", () =>
    withTransaction(sql, async (tx) => {
      let whyHeld: string | null = null;
      let { unstored, deficit } = reading;
      if (outcome.walk === "whole") {
        if (isFull) await createPageMemory(sql, resource).forgetFrom(tx, reading.memorized);
        await resolveHoles(tx, resource, finishedAt);
        const facts = { resource, runId, beganRunId: start.beganRunId, noticedAt: finishedAt, seen };
        const missing = await recordMissing(tx, { ...options, ...facts });
        await setLive(tx, resource, missing.live);
        whyHeld = missing.held;
        unstored = seen.size - missing.met;
      } else await forgetSeen(tx, resource, seen);
      if ((isFull || isRead) && counted !== null) {
        deficit = beyondMoves(counted - (await countShown(tx, resource)), reading.moved);
        unstored ??= await countUnstored(tx, resource);
      } else if (deficit !== null) deficit -= reading.explained - (unstored ?? 0);
      if (isFull && resource === "build") await recordSeen(tx, seen, { ...start, runId, request: listPath });
      await reading.keepSize?.(tx);
      const { night, search } = reading;
      // A whole walk that is not accepted has not read the list.
      const isAllRead = reading.isAllRead && outcome === reading.outcome;
      await finishWalk(tx, runId, resource, {
        ...{ ...outcome, reason: outcome.reason ?? whyHeld },
        ...{ counts, checkpoint: reading.checkpoint, finishedAt, unstored, deficit, night, search },
        readSince: isAllRead ? start.startedAt : (night?.readSince ?? null),
      });
      return whyHeld;
    }),
  );
  const { isLagging = false } = reading;
  if (isLagging) log.info({ reason: outcome.reason }, "the service lags behind");
  else if (outcome.reason) log.info({ reason: outcome.reason, hint: brokenBy?.hint }, "walk is not whole");
  if (held) log.info({ reason: held }, "deletions are held back");
  const reason = outcome.reason ?? held;
  const about = { ...(reason && { reason }), ...(isLagging && { lagging: true as const }) };
  const { night, search } = reading;
  const beneath = {
    ...(night && { round: { records: night.records, ...(night.reason && { reason: night.reason }) } }),
    ...(search && { search: { requests: search.requests, settled: search.isDone } }),
  };
  return {
    summary: {
      walk: outcome.walk,
      ...about,
      ...(gap && { shown: gap.shown }),
      ...counts,
      total_count: outcome.totalCount,
      ...beneath,
    },
    deficit: outcome.walk === "head" ? Math.max(0, reading.explained - (reading.deficit ?? 0)) : 0,
    brokenBy,
  };
}

/** The part of a difference that cannot come from records that came or went behind the reader during the walk. */
function beyondMoves(difference: number, { up, down }: Reading["moved"]): number {
  return difference > 0 ? Math.max(0, difference - up) : Math.min(0, difference + down);
}

import type { UpstreamError } from "../../base/errors.ts";
import { withTransaction } from "../../store/connection/transaction.ts";
import { finishWalk } from "../../store/ledger/run-ledger.ts";
import { countRows, countShown, setLive } from "../load/live-count.ts";
import type { RunParts } from "../load/loader.ts";
import { createPageMemory } from "../load/page-memory.ts";
import { countUnstored, resolveHoles } from "../load/quarantine.ts";
import { recordSeen } from "../load/record-transitions.ts";
import { forgetSeen, recordMissing } from "./missing-records.ts";
import type { Reading, WalkOptions } from "./settle-pages.ts";
import type { WalkSummary } from "./summary.ts";

/**
 * Ends a walk in one transaction: stores what a whole walk did not show as missing, resolves the holes, and stores
 * how the walk ended. A whole walk without any record is not accepted when records are known. The `deficit` is that of
 * `Unfinished`: 0 where the count was not compared.
 */
export async function closeWalk(
  run: RunParts,
  options: WalkOptions,
  reading: Reading,
  isFull: boolean,
): Promise<{ summary: WalkSummary; deficit: number; brokenBy: UpstreamError | null }> {
  const { sql, clock, log, runId, patience } = run;
  const { resource, listPath } = options.plan;
  const { start, seen, counts, brokenBy } = reading;
  const finishedAt = clock.now().toISOString();
  let { outcome } = reading;
  const isEmptied = outcome.walk === "whole" && seen.size === 0;
  const known = isEmptied ? await patience("count records", () => countRows(sql, resource)) : 0;
  if (known > 0) {
    const reason = `${resource} list: it should hold the ${known} records that are known, but came empty; nothing is deleted`;
    outcome = { ...outcome, walk: "not_whole", reason };
  }
  const held = await patience("close a walk", () =>
    withTransaction(sql, async (tx) => {
      let whyHeld: string | null = null;
      let { unstored, deficit } = reading;
      if (outcome.walk === "whole") {
        if (isFull) await createPageMemory(sql, resource).forgetFrom(tx, reading.memorized);
        await resolveHoles(tx, resource, finishedAt);
        const { maxDeleteRatio, allowMassDelete } = options;
        const facts = { resource, runId, beganRunId: start.beganRunId, noticedAt: finishedAt };
        const missing = await recordMissing(tx, { ...facts, maxDeleteRatio, allowMassDelete, seen });
        await setLive(tx, resource, missing.live);
        whyHeld = missing.held;
        unstored = seen.size - missing.met;
      } else await forgetSeen(tx, resource, seen);
      // The earlier part of a resumed walk did not say how the count moved.
      if (isFull && start.beganRunId === runId && outcome.totalCount !== null) {
        deficit = beyondMoves(outcome.totalCount - (await countShown(tx, resource)), reading.moved);
        unstored ??= await countUnstored(tx, resource);
      }
      if (isFull && resource === "build") await recordSeen(tx, seen, { ...start, runId, request: listPath });
      await reading.keepSize?.(tx);
      await finishWalk(tx, runId, resource, {
        ...{ ...outcome, reason: outcome.reason ?? whyHeld },
        ...{ counts, checkpoint: reading.checkpoint, finishedAt, unstored, deficit },
      });
      return whyHeld;
    }),
  );
  const { isLagging = false } = reading;
  if (isLagging) log.warn({ reason: outcome.reason }, "the service lags behind");
  else if (outcome.reason) log.warn({ reason: outcome.reason }, "walk is not whole");
  if (held) log.warn({ reason: held }, "deletions are held back");
  const reason = outcome.reason ?? held;
  const about = { ...(reason && { reason }), ...(isLagging && { lagging: true as const }) };
  return {
    summary: { walk: outcome.walk, ...about, ...counts, total_count: outcome.totalCount },
    deficit: outcome.walk === "head" ? Math.max(0, reading.explained - (reading.deficit ?? 0)) : 0,
    brokenBy,
  };
}

/** The part of a difference that cannot come from records that came or went behind the reader during the walk. */
function beyondMoves(difference: number, { up, down }: Reading["moved"]): number {
  return difference > 0 ? Math.max(0, difference - up) : Math.min(0, difference + down);
}

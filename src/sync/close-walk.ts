import { finishWalk } from "../db/run-ledger.ts";
import { withTransaction } from "../db/transaction.ts";
import { setLive } from "../load/live-count.ts";
import { recordSeen } from "../load/open-builds.ts";
import { createPageMemory } from "../load/page-memory.ts";
import { resolveHoles } from "../load/quarantine.ts";
import { countKnown, forgetSeen, recordMissing } from "./missing-records.ts";
import type { Reading } from "./read-pages.ts";
import type { WalkEnding, WalkResourceOptions } from "./walk-options.ts";

/**
 * Ends a walk in one transaction: stores the records that a whole walk did not show as missing, resolves the
 * holes, and stores how the walk ended. A whole walk without any record is not accepted when records are
 * known.
 */
export async function closeWalk(
  options: WalkResourceOptions,
  reading: Reading,
  isFull: boolean,
): Promise<WalkEnding> {
  const { sql, clock, log, runId, plan, patience } = options;
  const { resource, listPath } = plan;
  const { start, seen, counts, brokenBy } = reading;
  const finishedAt = clock.now().toISOString();
  let { outcome } = reading;
  const isEmptied = outcome.walk === "whole" && seen.size === 0;
  const known = isEmptied ? await patience("count records", () => countKnown(sql, resource)) : 0;
  if (known > 0) {
    const reason = `${resource} list: it should hold the ${known} records that are known, but came empty; nothing is deleted`;
    outcome = { ...outcome, walk: "not_whole", reason };
  }
  const held = await patience("close a walk", () =>
    withTransaction(sql, async (tx) => {
      let whyHeld: string | null = null;
      let { unstored } = reading;
      if (outcome.walk === "whole") {
        if (isFull) await createPageMemory(sql, resource, runId).forgetFrom(tx, reading.memorized);
        await resolveHoles(tx, resource, finishedAt);
        const { maxDeleteRatio, allowMassDelete } = options;
        const { beganRunId } = start;
        const missing = await recordMissing(tx, {
          ...{ resource, runId, beganRunId, noticedAt: finishedAt, maxDeleteRatio, allowMassDelete, seen },
        });
        await setLive(tx, resource, missing.live);
        whyHeld = missing.held;
        unstored = seen.size - missing.met;
      } else await forgetSeen(tx, resource, seen);
      if (isFull && resource === "build") await recordSeen(tx, seen, { ...start, runId, request: listPath });
      await reading.keepSize?.(tx);
      await finishWalk(tx, runId, resource, {
        ...outcome,
        reason: outcome.reason ?? whyHeld,
        counts,
        checkpoint: reading.checkpoint,
        finishedAt,
        unstored,
        deficit: reading.deficit,
      });
      return whyHeld;
    }),
  );
  if (outcome.reason) log.warn({ reason: outcome.reason }, "walk is not whole");
  if (held) log.warn({ reason: held }, "deletions are held back");
  const reason = outcome.reason ?? held;
  const { totalCount } = outcome;
  return {
    summary: { walk: outcome.walk, ...(reason && { reason }), ...counts, total_count: totalCount },
    brokenBy,
  };
}

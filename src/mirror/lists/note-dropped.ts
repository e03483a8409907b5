import { ageMs } from "../../base/clock.ts";
import type { Resource } from "../../resources/resources.ts";
import { withTransaction } from "../../store/connection/sql.ts";
import { describeDropped, findDropped } from "../../store/ledger/dropped-lists.ts";
import { findListFreshness } from "../../store/ledger/list-freshness.ts";
import { finishWalk, startWalk } from "../../store/ledger/run-ledger.ts";
import { recordDrift } from "../load/record-drift.ts";
import type { RunParts } from "../load/run-parts.ts";
import { emptyCounts, skippedWalk, type WalkSummary } from "./summary.ts";

const DAY_MS = 86_400_000;
/** An upgrade of the service, or a fault of its root listing, is over by then. */
const FACT_AFTER_MS = 7 * DAY_MS;
/** All else is well where each other list was read well within this time. */
const OTHERS_WITHIN_MS = 2 * DAY_MS;

/**
 * Notes which lists are gone and which returned, before they are walked. Returns the results of those whose absence is a fact.
 * Safe to repeat.
 */
export async function noteDropped(
  { sql, patience, runId, startedAt }: Pick<RunParts, "sql" | "patience" | "runId" | "startedAt">,
  { absent, leftOut, walked }: Record<"absent" | "leftOut" | "walked", readonly Resource[]>,
): Promise<Partial<Record<Resource, WalkSummary>>> {
  const at = startedAt.toISOString();
  return patience("note the lists that are gone", () =>
    withTransaction(sql, async (tx) => {
      const before = await findDropped(tx);
      const lists = await findListFreshness(tx);
      const isWell = lists.every(
        ({ resource, startedAt: read }) =>
          absent.includes(resource) ||
          leftOut.includes(resource) ||
          ageMs(read, startedAt) < OTHERS_WITHIN_MS,
      );
      const note = (resource: Resource, kind: "appeared" | "vanished", detail: string) =>
        recordDrift(tx, { resource, runId, observedAt: at }, [
          { field: "", kind, detail: `${detail} at ${at}` },
        ]);
      // What was absent for less than a week (`absent`, `seen`) is no fact, and gets no notice.
      for (const { resource, why } of before)
        if (walked.includes(resource))
          await note(
            resource,
            "appeared",
            `${why === "absent" ? "seen" : "back"}: in the root listing again`,
          );
      for (const resource of [...absent, ...leftOut]) {
        const known = before.find((one) => one.resource === resource);
        const isOld = known !== undefined && ageMs(known.since, startedAt) >= FACT_AFTER_MS;
        if (leftOut.includes(resource)) {
          if (known?.why !== "left out") await note(resource, "vanished", "left out: by DOCMIRROR_LEAVE_OUT");
        } else if (known === undefined || known.why === "left out")
          await note(resource, "vanished", "absent: not in the root listing");
        else if (known.why === "absent" && isOld && isWell)
          await note(resource, "vanished", "dropped: its rows are kept");
      }
      const summaries: Partial<Record<Resource, WalkSummary>> = {};
      for (const one of await findDropped(tx)) {
        const isOurs = absent.includes(one.resource) || leftOut.includes(one.resource);
        if (one.why === "absent" || !isOurs) continue;
        const reason = describeDropped(one);
        const counts = emptyCounts();
        // A head of which nothing had to be read: what is stored is all that there will be.
        await startWalk(tx, runId, one.resource, { startedAt: at, beganRunId: runId }, counts, null);
        await finishWalk(tx, runId, one.resource, {
          ...{ walk: "head", reason, totalCount: null, finishedAt: at, counts },
          ...{ checkpoint: null, unstored: null, deficit: null },
        });
        summaries[one.resource] = { ...skippedWalk(reason), dropped: true };
      }
      return summaries;
    }),
  );
}

import { ageMs } from "../../base/clock.ts";
import type { Resource } from "../../resources/resources.ts";
import { withTransaction } from "../../store/connection/sql.ts";
import { type DroppedList, describeDropped, findDropped } from "../../store/ledger/dropped-lists.ts";
import { findListFreshness } from "../../store/ledger/list-freshness.ts";
import { finishWalk, startWalks } from "../../store/ledger/run-ledger.ts";
import { recordDrift } from "../load/record-drift.ts";
import type { RunParts } from "../load/run-parts.ts";
import type { FieldDrift } from "../normalize/page.ts";
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
  const gone = [...absent, ...leftOut];
  const known = await patience("find the lists that are gone", () => findDropped(sql));
  if (gone.length + known.length === 0) return {};
  return patience("note the lists that are gone", () =>
    withTransaction(sql, async (tx) => {
      const before = await findDropped(tx);
      const lists = await findListFreshness(tx);
      const others = lists.filter(({ resource }) => !gone.includes(resource));
      const isWell = others.every((list) => ageMs(list.startedAt, startedAt) < OTHERS_WITHIN_MS);
      const note = (resource: Resource, kind: FieldDrift["kind"], what: string) => {
        const drift = { field: "", kind, detail: `${what} at ${at}` };
        return recordDrift(tx, { resource, runId, observedAt: at }, [drift]);
      };
      for (const { resource, why } of before) {
        const what = why === "absent" ? "seen" : "back";
        if (walked.includes(resource)) await note(resource, "appeared", `${what}: in the root listing again`);
      }
      for (const resource of gone) {
        const known = before.find((one) => one.resource === resource);
        const isFact = isWell && known !== undefined && ageMs(known.since, startedAt) >= FACT_AFTER_MS;
        const what = newsOf(known?.why, leftOut.includes(resource), isFact);
        if (what !== null) await note(resource, "vanished", what);
      }
      const summaries: Partial<Record<Resource, WalkSummary>> = {};
      for (const list of await findDropped(tx)) {
        const { resource, why } = list;
        if (why === "absent" || !gone.includes(resource)) continue;
        const reason = describeDropped(list);
        const counts = emptyCounts();
        // A head of which nothing had to be read: what is stored is all that there will be.
        await startWalks(tx, runId, [resource], { startedAt: at, beganRunId: runId }, counts, null);
        await finishWalk(tx, runId, resource, {
          walk: "head",
          reason,
          totalCount: null,
          counts,
          checkpoint: null,
          finishedAt: at,
          unstored: null,
          deficit: null,
        });
        summaries[resource] = { ...skippedWalk(reason), dropped: true };
      }
      return summaries;
    }),
  );
}

/** Null where nothing is new. What is absent for less than a week (`absent`, `seen`) is no fact, and gets no notice. */
function newsOf(known: DroppedList["why"] | undefined, isLeftOut: boolean, isFact: boolean): string | null {
  if (isLeftOut) return known === "left out" ? null : "left out: by DOCMIRROR_LEAVE_OUT";
  if (known === undefined || known === "left out") return "absent: not in the root listing";
  return known === "absent" && isFact ? "dropped: its rows are kept" : null;
}

/**
 * The planned lists of a run, walked into the tables. `plan.ts` says which are read, and whether whole or from the
 * head; `close-walk.ts` says what a walk proved. The run around them is in `mirror/run`.
 */
import type { UpstreamError } from "../../base/errors.ts";
import type { Resource } from "../../resources/resources.ts";
import type { ResumableWalk } from "../../store/ledger/run-ledger.ts";
import type { Unfinished } from "../../store/schema/runs.ts";
import { aboutList } from "../api/client.ts";
import type { RunParts } from "../load/loader.ts";
import { createLookAheadRoom, lookAheadOf } from "../walk/page-source.ts";
import { closeWalk } from "./close-walk.ts";
import type { SyncSettings, WalkPlan } from "./plan.ts";
import { readHead } from "./read-head.ts";
import { readList } from "./read-list.ts";
import type { WalkOptions } from "./settle-pages.ts";
import { emptyCounts, type RunSummary } from "./summary.ts";

/** `abort` is aborted with the first failure, so that no walk continues in vain. */
type WalkingParts = RunParts & Pick<WalkOptions, "meters"> & { abort: AbortController };

interface WalkListsOptions extends Pick<WalkOptions, "allowMassDelete"> {
  walks: readonly WalkPlan[];
  settings: Pick<SyncSettings, "pageSize" | "concurrency" | "maxDeleteRatio" | "replicaLagMs">;
  /** The walks that an interrupted run left. */
  resumable: readonly ResumableWalk[];
  /** Filled in during the walks. */
  resources: RunSummary["resources"];
  unfinished: Pick<Unfinished, "deficit">;
  onProgress: ((resource: Resource, ...counts: Parameters<WalkOptions["onProgress"]>) => void) | undefined;
}

/**
 * Runs the walks of a run at the same time. When upstream fails one list, the others continue. Returns the first such
 * failure, or null. Throws the error of a walk after all have ended.
 */
export async function walkLists(run: WalkingParts, options: WalkListsOptions): Promise<UpstreamError | null> {
  const { walks, settings, allowMassDelete, resumable, resources, unfinished, onProgress } = options;
  const room = createLookAheadRoom();
  const walkOne = async (plan: WalkPlan): Promise<UpstreamError | null> => {
    const { resource } = plan;
    try {
      const { summary, deficit, brokenBy } = await walkResource(aboutList(run, resource), {
        ...{ ...settings, lookAhead: lookAheadOf(settings.concurrency) },
        ...{ plan, room, allowMassDelete, meters: run.meters },
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
    }
  };
  let failure: UpstreamError | null = null;
  for (const walked of await Promise.allSettled(walks.map(walkOne))) {
    if (walked.status === "rejected") throw walked.reason;
    failure ??= walked.value;
  }
  return failure;
}

/**
 * Walks one list as planned. When the count of a head does not agree, a full walk follows if the plan allows it. When
 * upstream fails, the walk ends as `not_whole` and keeps its checkpoint; any other failure is thrown.
 */
async function walkResource(run: RunParts, options: WalkOptions): ReturnType<typeof closeWalk> {
  const { plan } = options;
  if (plan.kind === "full") return closeWalk(run, options, await readList(run, options, emptyCounts()), true);
  const head = await readHead(run, options);
  const { outcome, deficit, explained } = head;
  if (outcome.walk !== "head" || deficit === explained || !plan.mayWalkInFull) {
    return closeWalk(run, options, head, false);
  }
  run.log.info({ deficit, explained }, "the count of the head does not agree; reading the list in full");
  return closeWalk(run, options, await readList(run, options, head.counts), true);
}

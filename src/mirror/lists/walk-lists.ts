import type { UpstreamError } from "../../base/errors.ts";
import type { Resource } from "../../resources/resources.ts";
import { type ResumableWalk, startWalks } from "../../store/ledger/run-ledger.ts";
import type { Unfinished } from "../../store/schema/runs.ts";
import { aboutList } from "../api/client.ts";
import { type FirstPages, openMemories } from "../load/page-memory.ts";
import { BASE_SIZE } from "../walk/page-size.ts";
import { createLookAheadRoom, lookAheadOf } from "../walk/page-source.ts";
import { type ClosedWalk, closeWalk } from "./close-walk.ts";
import { createPageSizes } from "./page-sizes.ts";
import type { SyncSettings, WalkPlan } from "./plan.ts";
import { readHead } from "./read-head.ts";
import { readList } from "./read-list.ts";
import type { ListOptions, ListRun } from "./reading.ts";
import { emptyCounts, type RunSummary } from "./summary.ts";

/** `abort` is aborted with the first failure, so that no walk continues in vain. */
type WalkingRun = ListRun & { abort: AbortController };

interface WalkListsOptions extends Pick<ListOptions, "allowMassDelete" | "before"> {
  walks: readonly WalkPlan[];
  settings: Pick<
    SyncSettings,
    "pageSize" | "concurrency" | "maxDeleteRatio" | "deleteHeldAfterMs" | "replicaLagMs"
  >;
  resumable: readonly ResumableWalk[];
  resources: RunSummary["resources"];
  unfinished: Pick<Unfinished, "deficit">;
  onProgress: ((resource: Resource, ...counts: Parameters<ListOptions["onProgress"]>) => void) | undefined;
}

/** Runs the walks at the same time, and returns the first failure of upstream. Throws any other after all have ended. */
export async function walkLists(run: WalkingRun, options: WalkListsOptions): Promise<UpstreamError | null> {
  const { walks, settings, allowMassDelete, before, resumable, resources, unfinished, onProgress } = options;
  const resumed = (resource: Resource) => resumable.find((walk) => walk.resource === resource) ?? null;
  const opened = await openWalks(run, options);
  const sizes = createPageSizes(run);
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
        ...settings,
        plan,
        room,
        sizes,
        remembered: plan.kind === "full" && resumed(resource) === null ? opened.remembered : null,
        allowMassDelete,
        before,
        lookAhead: lookAheadOf(settings.concurrency),
        ...(plan === scout ? { onStart } : { startSize: scout && found }),
        resume: resumed(resource),
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
  const walked = await Promise.allSettled(walks.map(walkOne));
  // A walk that broke off at once has not waited for it.
  await opened.remembered.catch(() => {});
  for (const one of walked) {
    if (one.status === "rejected") throw one.reason;
    failure ??= one.value;
  }
  return failure;
}

/**
 * Opens the walks that begin at the start of their lists, with one statement for all. What is remembered of those that are read whole is
 * read while their first pages are requested.
 */
async function openWalks(
  { sql, patience, clock, runId }: ListRun,
  { walks, resumable }: WalkListsOptions,
): Promise<{ remembered: Promise<FirstPages> }> {
  const isResumed = ({ resource, kind }: WalkPlan) =>
    kind === "full" && resumable.some((walk) => walk.resource === resource);
  const fresh = walks.filter((plan) => !isResumed(plan));
  const start = { startedAt: clock.now().toISOString(), beganRunId: runId };
  const named = fresh.map(({ resource }) => resource);
  if (named.length > 0)
    await patience("open the walks", () => startWalks(sql, runId, named, start, emptyCounts(), null));
  const whole = fresh.flatMap(({ resource, kind }) => (kind === "full" ? [resource] : []));
  const remembered =
    whole.length > 0
      ? patience("forget stale pages", () => openMemories(sql, whole))
      : Promise.resolve<FirstPages>(new Map());
  remembered.catch(() => {});
  return { remembered };
}

/** When upstream fails, the walk ends as `not_whole` and keeps its checkpoint; any other failure is thrown. */
async function walkResource(run: ListRun, list: ListOptions): Promise<ClosedWalk> {
  const { kind, mayWalkInFull, roundDays } = list.plan;
  if (kind === "full") return closeWalk(run, list, await readList(run, list, emptyCounts()));
  const reading = await readHead(run, list);
  const { distrust, causes } = reading.head;
  if (distrust !== null && (mayWalkInFull || roundDays !== null))
    run.log.info({ why: distrust }, "the head of the list cannot be trusted; reading it in full");
  else if (reading.outcome.walk === "head" && causes?.unexplained !== 0 && mayWalkInFull)
    run.log.info({ ...causes }, "the count of the head does not agree; reading the list in full");
  else return closeWalk(run, list, reading);
  return closeWalk(run, list, await readList(run, list, reading.counts));
}

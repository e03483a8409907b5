import PQueue from "p-queue";
import type { UpstreamError } from "../../base/errors.ts";
import type { Resource } from "../../resources/resources.ts";
import { type ResumableWalk, startWalks } from "../../store/ledger/run-ledger.ts";
import type { Unfinished } from "../../store/schema/runs.ts";
import { aboutList } from "../api/client.ts";
import { isUpstreamLost } from "../api/fates.ts";
import { type FirstPages, openMemories } from "../load/page-memory.ts";
import { BASE_SIZE } from "../walk/page-size.ts";
import { createLookAheadRoom, lookAheadOf } from "../walk/page-source.ts";
import { closeWalk } from "./close-walk.ts";
import type { SyncSettings, WalkPlan } from "./plan.ts";
import { readHead } from "./read-head.ts";
import { readList } from "./read-list.ts";
import type { ListOptions, ListRun, Reading } from "./reading.ts";
import { emptyCounts, type RunSummary, skippedWalk } from "./summary.ts";

/** `abort` is aborted with the first failure, so that no walk continues in vain. */
type WalkingRun = ListRun & { abort: AbortController };

interface WalkListsOptions extends Pick<ListOptions, "allowMassDelete" | "before" | "sizes"> {
  settings: Pick<
    SyncSettings,
    "pageSize" | "concurrency" | "maxDeleteRatio" | "deleteHeldAfterMs" | "replicaLagMs"
  >;
  resumable: readonly ResumableWalk[];
  resources: RunSummary["resources"];
  unfinished: Pick<Unfinished, "deficit">;
  onProgress: ((resource: Resource, ...counts: Parameters<ListOptions["onProgress"]>) => void) | undefined;
}

type TurnOptions = WalkListsOptions & { walks: readonly WalkPlan[] };

/**
 * Walks the lists turn by turn (`turns.ts`), and returns the first failure of upstream. No turn begins once the service cannot
 * be asked any more. Throws any other failure after all of its turn have ended. A service may fail for one list and answer the
 * others, so its root is asked behind a turn that failed.
 */
export async function walkLists(
  run: WalkingRun,
  { turns, ...options }: WalkListsOptions & { turns: readonly (readonly WalkPlan[])[] },
): Promise<UpstreamError | null> {
  const { client, signal } = run;
  let failure: UpstreamError | null = null;
  let isInDoubt = false;
  let isOver = false;
  for (const walks of turns) {
    isOver ||= isInDoubt && !(await client.isUp(signal));
    if (isOver) {
      for (const { resource } of walks) options.resources[resource] = skippedWalk(whyNotBegun(resource));
      continue;
    }
    const failed = await walkTurn(run, { ...options, walks });
    failure ??= failed;
    isInDoubt = isUpstreamLost(failed);
    isOver = client.lost.aborted;
  }
  return failure;
}

const whyNotBegun = (resource: Resource) =>
  `${resource} list: other lists came first, until the service could not be asked any more`;

/** Runs the walks at the same time. */
async function walkTurn(run: WalkingRun, options: TurnOptions): Promise<UpstreamError | null> {
  const { walks, settings, allowMassDelete, before, sizes, resumable, resources, unfinished, onProgress } =
    options;
  const resumed = (resource: Resource) => resumable.find((walk) => walk.resource === resource) ?? null;
  const giveUp = (reason: unknown): never => {
    run.abort.abort(reason);
    throw reason;
  };
  const opened = await openWalks(run, options).catch(giveUp);
  const room = createLookAheadRoom();
  // One after the other: small lists end at the same time, and each would open a session for its end.
  const closings = new PQueue({ concurrency: 1 });
  // The last list has the heaviest records: what its first page shows is where those of which nothing is known begin.
  const scout = walks.at(-1)?.kind === "full" ? walks.at(-1) : undefined;
  let onStart = (_size?: number): void => {};
  const found = new Promise<number>((resolve) => {
    onStart = (size = BASE_SIZE) => resolve(size);
  });
  const walkOne = async (plan: WalkPlan): Promise<UpstreamError | null> => {
    const { resource } = plan;
    try {
      const options: ListOptions = {
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
      };
      const own = aboutList(run, resource);
      const reading = await readResource(own, options);
      const { summary, deficit, brokenBy } = await closings.add(() => closeWalk(own, options, reading));
      resources[resource] = summary;
      unfinished.deficit += deficit;
      return brokenBy;
    } catch (reason) {
      return giveUp(reason);
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
  { walks, resumable }: TurnOptions,
): Promise<{ remembered: Promise<FirstPages> }> {
  const fresh = walks.filter(
    ({ resource, kind }) => kind === "head" || resumable.every((walk) => walk.resource !== resource),
  );
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
async function readResource(run: ListRun, list: ListOptions): Promise<Reading> {
  const { kind, mayWalkInFull, roundDays } = list.plan;
  if (kind === "full") return readList(run, list, emptyCounts());
  const reading = await readHead(run, list);
  const { distrust, causes } = reading.head;
  if (distrust !== null && (mayWalkInFull || roundDays !== null))
    run.log.info({ why: distrust }, "the head of the list cannot be trusted; reading it in full");
  else if (reading.outcome.walk === "head" && causes?.unexplained !== 0 && mayWalkInFull)
    run.log.info({ ...causes }, "the count of the head does not agree; reading the list in full");
  else return reading;
  return readList(run, list, reading.counts);
}

/** One sync: root listing, schemas, the walks side by side, deletions, open builds, references. Its frame is `with-run.ts`. */
import { followOpenBuilds } from "../builds/follow-open-builds.ts";
import { findLastWholeWalk, findResumableWalks, type WalkCounts } from "../db/run-ledger.ts";
import type { SyncKind } from "../db/schema/runs.ts";
import { isUpstreamLost, UnexpectedShapeError } from "../errors.ts";
import { resolveSuperseded } from "../load/resolve-superseded.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";
import { confirmDeletions } from "./confirm-deletions.ts";
import { planRun } from "./plan.ts";
import { repairReferences } from "./repair-references.ts";
import { fetchRootListing } from "./root-listing.ts";
import { emptyCounts } from "./summary.ts";
import { recordUpstreamSchemas } from "./upstream-schemas.ts";
import { walkLists } from "./walk-lists.ts";
import { type OpenRun, type RunOptions, type RunResult, withRun } from "./with-run.ts";

/** An older checkpoint is not gone on from: too much may have moved in the list since. */
const RESUME_WITHIN_MS = 6 * 3_600_000;
/** Details of open builds asked for in one sync, at most. */
const MAX_OPEN_BUILDS = 500;

export type { SyncSettings } from "./sync-settings.ts";
export { exitCodeOf } from "./with-run.ts";
export type SyncResult = RunResult;

export interface SyncOptions extends RunOptions {
  /** @default null: full when one is due, else incremental */
  kind?: SyncKind | null;
  /** @default null: all */
  resources?: readonly Resource[] | null;
  /** Deletes what is gone even where `maxDeleteRatio` holds it back. @default false */
  allowMassDelete?: boolean;
  onProgress?(resource: Resource, counts: WalkCounts, totalCount: number | null): void;
}

/**
 * Runs one sync. Throws only what kept the run from beginning (`LockedError`, `StoreError`); what goes wrong later is in the
 * result, with a summary of what was done. Safe to repeat: a second identical run changes no row.
 */
export function runSync(options: SyncOptions): Promise<SyncResult> {
  return withRun(options, options.kind ?? "full", (run) => sync(options, run));
}

async function sync(options: SyncOptions, run: OpenRun): Promise<void> {
  const { settings } = options;
  const { runId, startedAt, sql, client, log, abort, patience, totals, warn, ending, clock } = run;
  const { resources } = ending;
  const resumeSince = new Date(startedAt.getTime() - RESUME_WITHIN_MS).toISOString();
  const { lastWholeBuildWalk, resumable } = await patience("find where to go on", async () => ({
    lastWholeBuildWalk: await findLastWholeWalk(sql, "build"),
    resumable: await findResumableWalks(sql, resumeSince),
  }));
  const root = await fetchRootListing(client);
  const plan = planRun({
    kind: options.kind ?? null,
    resources: options.resources ?? null,
    root,
    lastWholeBuildWalk,
    fullEveryDays: settings.fullEveryDays,
    now: startedAt,
  });
  ending.kind = plan.kind;
  await patience(
    "note the kind of the run",
    () => sql`update sync.runs set kind = ${plan.kind} where id = ${runId}`,
  );
  for (const resource of plan.absent) {
    log.error({ resource }, "the root listing does not have this resource; it is skipped");
    const message = `the root listing has no ${resource}`;
    resources[resource] = { walk: "skipped", reason: message, ...emptyCounts(), total_count: null };
    ending.error ??= new UnexpectedShapeError(message, { url: settings.baseUrl.origin });
  }
  const observedAt = startedAt.toISOString();
  const schemas = async () => {
    try {
      await recordUpstreamSchemas({ sql, client, log, patience }, root, { runId, observedAt });
    } catch (reason) {
      abort.abort(reason);
      throw reason;
    }
  };
  const walks = walkLists({
    ...run,
    walks: plan.walks,
    settings,
    allowMassDelete: options.allowMassDelete ?? false,
    resumable,
    resources,
    onProgress: options.onProgress,
  });
  // All comes to rest before anything is concluded: nothing may be written after the run is closed.
  const [walked, asked] = await Promise.allSettled([walks, schemas()]);
  for (const settled of [walked, asked])
    if (settled.status === "rejected") throw abort.signal.reason ?? settled.reason;
  const lostBy = walked.status === "fulfilled" ? walked.value.lostBy : null;
  ending.brokenBy = walked.status === "fulfilled" ? walked.value.brokenBy : null;
  const isLost = lostBy !== null;
  // That the service is out of reach weighs more than what its root listing lacked.
  if (!isUpstreamLost(ending.error)) ending.error = lostBy ?? ending.error;
  if (!isLost) {
    // Before builds are polled: one that is gone need not be asked for twice.
    await confirmDeletions({
      ...run,
      resources: RESOURCES.filter((name) => /^(whole|head)$/.test(resources[name]?.walk ?? "")),
      onDeleted(resource, count) {
        const walk = resources[resource];
        if (walk) walk.deleted += count;
      },
      warn,
    });
  }
  // A resource that is missing, or one page that the service cannot render, is no reason to leave the others alone.
  const readsHead = plan.walks.some(({ resource, kind }) => resource === "build" && kind === "head");
  if (!isLost && readsHead) {
    const { stuckAfterMs } = settings;
    await followOpenBuilds({
      ...run,
      stuckAfterMs,
      pageSize: settings.pageSize,
      maxDetails: MAX_OPEN_BUILDS,
      maxStuck: MAX_OPEN_BUILDS,
    });
  }
  Object.assign(totals, await repairReferences({ ...run, askUpstream: !isLost }));
  await patience("close what came well since", () => resolveSuperseded(sql, clock.now().toISOString()));
}

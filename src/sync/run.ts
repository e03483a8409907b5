/**
 * One run: lock, ledger, root listing, schemas, the walks side by side, references, and an end that says what became of it.
 *
 *   running ──▶ succeeded    every walk whole (or ended at its head), nothing put aside
 *           ──▶ partial      what is stored is consistent; a walk is not whole, or records are in quarantine
 *           ──▶ failed       upstream or the database could not be used
 *           ──▶ interrupted  asked to stop, or the process died; the next run goes on at the checkpoints
 */
import { setMaxListeners } from "node:events";
import type { HostPace } from "../api/host-pace.ts";
import { pollOpenBuilds } from "../builds/poll-open-builds.ts";
import type { Clock } from "../clock.ts";
import { connect, type Sql } from "../db/connect.ts";
import { createPatience } from "../db/patience.ts";
import {
  findLastWholeWalk,
  findResumableWalks,
  type RunTotals,
  startRun,
  type WalkCounts,
} from "../db/run-ledger.ts";
import { acquireRunLock, type RunLock } from "../db/run-lock.ts";
import type { SyncKind } from "../db/schema/runs.ts";
import { toStoreError } from "../db/store-errors.ts";
import {
  EXIT,
  isUpstreamLost,
  MirrorError,
  StoppedError,
  UnexpectedShapeError,
  UpstreamError,
} from "../errors.ts";
import { createKnownKeys } from "../load/known-keys.ts";
import { createLoader, type Loader } from "../load/loader.ts";
import { resolveSuperseded } from "../load/resolve-superseded.ts";
import type { Logger } from "../log.ts";
import { createIdSet } from "../walk/id-set.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";
import { closeRun } from "./close-run.ts";
import { confirmDeletions } from "./confirm-deletions.ts";
import { startHeart } from "./heartbeat.ts";
import { planRun } from "./plan.ts";
import { repairReferences } from "./repair-references.ts";
import { fetchRootListing } from "./root-listing.ts";
import { emptyCounts, isPartial, type RunSummary } from "./summary.ts";
import type { SyncSettings } from "./sync-settings.ts";
import { createUpstreamClient } from "./upstream-client.ts";
import { recordUpstreamSchemas } from "./upstream-schemas.ts";
import { walkLists } from "./walk-lists.ts";
import { createWarnings } from "./warnings.ts";

/** An older checkpoint is not gone on from: too much may have moved in the list since. */
const RESUME_WITHIN_MS = 6 * 3_600_000;

export type { SyncSettings } from "./sync-settings.ts";

export interface SyncOptions {
  settings: SyncSettings;
  /** @default null: full when one is due, else incremental */
  kind?: SyncKind | null;
  /** @default null: all */
  resources?: readonly Resource[] | null;
  /** Deletes what is gone even where `maxDeleteRatio` holds it back. @default false */
  allowMassDelete?: boolean;
  /** What the other runs of the process keep to as well, made with the same `settings.rate`. @default the run's own */
  pace?: HostPace;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  onProgress?(resource: Resource, counts: WalkCounts, totalCount: number | null): void;
}

/** How a run ended. `error` is what ended it early, or null. */
export interface SyncResult {
  summary: RunSummary;
  error: unknown;
}

/**
 * Runs one sync. Throws only what kept the run from beginning (`LockedError`, `StoreError`); what goes wrong later is in the
 * result, with a summary of what was done. Safe to repeat: a second identical run changes no row.
 */
export async function runSync(options: SyncOptions): Promise<SyncResult> {
  const { settings, clock, log } = options;
  const lock = await acquireRunLock(settings.databaseUrl);
  // The run goes on when the server crashed and is up again: what was confirmed to it must be there still.
  const session = { synchronous_commit: "on" };
  const sql = connect(settings.databaseUrl, { applicationName: "docmirror sync", max: 4, session });
  try {
    return await runLocked(options, sql, lock);
  } catch (error) {
    throw toStoreError(error, "run the sync");
  } finally {
    await sql.end({ timeout: 5 });
    await lock.release();
    log.debug({ at: clock.now().toISOString() }, "run lock released");
  }
}

async function runLocked(options: SyncOptions, sql: Sql, lock: RunLock): Promise<SyncResult> {
  const { settings, clock, log } = options;
  const startedAt = clock.now();
  // A failure of the database or a bug in one walk ends the others too.
  const abort = new AbortController();
  // Every request and every place in the queue listens to it.
  setMaxListeners(0, abort.signal);
  const forward = () => abort.abort(options.signal.reason);
  options.signal.addEventListener("abort", forward, { once: true });
  if (options.signal.aborted) forward();

  const warnings = createWarnings(log);
  const client = createUpstreamClient(options, abort.signal, warnings.warn);
  const totals: RunTotals = {
    requests: 0,
    bytes: 0,
    replacedNul: 0,
    resolved: 0,
    unresolved: 0,
    transitions: 0,
    clockAhead: null,
  };
  const resources: RunSummary["resources"] = {};
  const patience = createPatience({ clock, log, signal: abort.signal, regain: lock.hold });
  const resumeSince = new Date(startedAt.getTime() - RESUME_WITHIN_MS).toISOString();
  const { lastWholeBuildWalk, resumable } = await patience("find where to go on", async () => ({
    lastWholeBuildWalk: await findLastWholeWalk(sql, "build"),
    resumable: await findResumableWalks(sql, resumeSince),
  }));
  const { interrupted, runId } = await patience("open the run", () =>
    startRun(sql, options.kind ?? "full", startedAt.toISOString()),
  );
  for (const id of interrupted)
    log.warn({ runId: id }, "an earlier run had died; it is closed as interrupted");
  const heart = startHeart(sql, runId, lock, (reason) => abort.abort(reason));

  let kind: SyncKind = options.kind ?? "full";
  let error: unknown = null;
  let brokenBy: UpstreamError | null = null;
  let lostBy: UpstreamError | null = null;
  try {
    const root = await fetchRootListing(client);
    const plan = planRun({
      kind: options.kind ?? null,
      resources: options.resources ?? null,
      root,
      lastWholeBuildWalk,
      fullEveryDays: settings.fullEveryDays,
      now: startedAt,
    });
    kind = plan.kind;
    await patience(
      "note the kind of the run",
      () => sql`update sync.runs set kind = ${kind} where id = ${runId}`,
    );
    for (const resource of plan.absent) {
      log.error({ resource }, "the root listing does not have this resource; it is skipped");
      const message = `the root listing has no ${resource}`;
      resources[resource] = { walk: "skipped", reason: message, ...emptyCounts(), total_count: null };
      error ??= new UnexpectedShapeError(message, { url: settings.baseUrl.origin });
    }
    const observedAt = startedAt.toISOString();
    const loader = countTotals(
      createLoader({
        sql,
        keys: createKnownKeys(sql, createIdSet),
        baseUrl: settings.baseUrl,
        runId,
        sourceTimezone: settings.sourceTimezone,
        lastWholeWalkAt: lastWholeBuildWalk,
        patience,
      }),
      totals,
    );
    const shared = { sql, client, loader, clock, log, signal: abort.signal, patience };
    const schemas = async () => {
      try {
        await recordUpstreamSchemas({ sql, client, log, patience }, root, { runId, observedAt });
      } catch (reason) {
        abort.abort(reason);
        throw reason;
      }
    };
    const walks = walkLists({
      ...shared,
      runId,
      walks: plan.walks,
      settings,
      allowMassDelete: options.allowMassDelete ?? false,
      resumable,
      abort,
      resources,
      onProgress: options.onProgress,
    });
    // All comes to rest before anything is concluded: nothing may be written after the run is closed.
    const [walked, asked] = await Promise.allSettled([walks, schemas()]);
    for (const settled of [walked, asked])
      if (settled.status === "rejected") throw abort.signal.reason ?? settled.reason;
    if (walked.status === "fulfilled") ({ brokenBy, lostBy } = walked.value);
    const isLost = lostBy !== null;
    // That the service is out of reach weighs more than what its root listing lacked.
    if (!isUpstreamLost(error)) error = lostBy ?? error;
    if (!isLost) {
      // Before builds are polled: one that is gone need not be asked for twice.
      await confirmDeletions({
        ...shared,
        runId,
        resources: RESOURCES.filter((name) => /^(whole|head)$/.test(resources[name]?.walk ?? "")),
        onDeleted(resource, count) {
          const walk = resources[resource];
          if (walk) walk.deleted += count;
        },
        warn: warnings.warn,
      });
    }
    // A resource that is missing, or one page that the service cannot render, is no reason to leave the others alone.
    if (!isLost && kind === "incremental" && plan.walks.some(({ resource }) => resource === "build")) {
      await pollOpenBuilds(shared);
    }
    Object.assign(totals, await repairReferences({ ...shared, askUpstream: !isLost }));
    await patience("close what came well since", () => resolveSuperseded(sql, clock.now().toISOString()));
  } catch (reason) {
    error = toStoreError(reason, "run the sync");
  } finally {
    heart.stop();
    options.signal.removeEventListener("abort", forward);
    await client.close();
  }

  Object.assign(totals, client.stats(), { clockAhead: client.clockAhead() });
  // When not one page could be read, what broke the walks is what failed the run.
  if (!Object.values(resources).some(({ pages }) => pages > 0)) error ??= brokenBy;
  const status = statusOf(error, resources);
  const finishedAt = clock.now();
  const message = error instanceof Error ? error.message : null;
  const warned = warnings.list();
  const end = { status, finishedAt: finishedAt.toISOString(), error: message, warnings: warned };
  await closeRun({ sql, lock, clock, log }, { runId, end, totals, error });
  const summary: RunSummary = {
    run_id: runId,
    kind,
    status,
    started_at: startedAt.toISOString(),
    finished_at: finishedAt.toISOString(),
    duration_ms: finishedAt.getTime() - startedAt.getTime(),
    requests: totals.requests,
    bytes: totals.bytes,
    resources,
    references: { resolved: totals.resolved, unresolved: totals.unresolved },
    transitions: totals.transitions,
    ...(message !== null && { error: message }),
    ...(warned.length > 0 && { warnings: warned }),
  };
  return { summary, error };
}

function statusOf(error: unknown, resources: RunSummary["resources"]): RunSummary["status"] {
  if (error instanceof StoppedError) return "interrupted";
  if (error === null && !isPartial(resources)) return "succeeded";
  const isSomethingStored = Object.values(resources).some(({ pages }) => pages > 0);
  return isSomethingStored && (error === null || error instanceof UpstreamError) ? "partial" : "failed";
}

/** The exit code of a run (`product.md` section 1). A partial run that lost upstream says so, any other partial one is a 3. */
export function exitCodeOf({ summary, error }: SyncResult): number {
  if (summary.status === "succeeded") return EXIT.done;
  if (summary.status === "partial" && !isUpstreamLost(error)) return EXIT.partial;
  return error instanceof MirrorError ? error.exitCode : error === null ? EXIT.partial : EXIT.bug;
}

/** The loader, with what it did added up over the run. */
function countTotals(loader: Loader, totals: RunTotals): Loader {
  return {
    ...loader,
    async load(batch, alongside) {
      const counts = await loader.load(batch, alongside);
      totals.transitions += counts.transitions;
      totals.replacedNul += counts.replacedNul;
      return counts;
    },
  };
}

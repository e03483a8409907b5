/** One sync: root listing, schemas and walks side by side, deletions, open builds, references. */
import { CLOCK_TOLERANCE_MS } from "../../base/clock.ts";
import { UnexpectedShapeError } from "../../base/errors.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { type Sql, withTransaction } from "../../store/connection/sql.ts";
import { findBuildsReadSince } from "../../store/ledger/list-freshness.ts";
import { noteService } from "../../store/ledger/mirrored-service.ts";
import {
  describeCountGap,
  findHeadFacts,
  findResumableWalks,
  type WalkCounts,
} from "../../store/ledger/run-ledger.ts";
import type { SyncKind } from "../../store/schema/runs.ts";
import { countDueBuilds } from "../builds/find-due-builds.ts";
import { followOpenBuilds } from "../builds/follow-open-builds.ts";
import { noteDropped } from "../lists/note-dropped.ts";
import { pageSizesOf } from "../lists/page-sizes.ts";
import { estimateFullWalks, findListFacts, planRun } from "../lists/plan.ts";
import { fetchRootListing, type ServiceRoot } from "../lists/root-listing.ts";
import { skippedWalk } from "../lists/summary.ts";
import { turnsOf } from "../lists/turns.ts";
import { walkLists } from "../lists/walk-lists.ts";
import { resolveSuperseded } from "../load/quarantine.ts";
import { recordDrift } from "../load/record-drift.ts";
import type { RunResult } from "./close-run.ts";
import { confirmDeletions } from "./confirm-deletions.ts";
import type { OpenRun } from "./open-run.ts";
import { repairReferences } from "./repair-references.ts";
import { nameUnsteady } from "./unsteady-fields.ts";
import { recordUpstreamSchemas } from "./upstream-schemas.ts";
import { type RunOptions, withRun } from "./with-run.ts";

/** An older checkpoint is not used: the list may have changed too much since. */
const RESUME_WITHIN_MS = 6 * 3_600_000;
/** A walk that the service's limit has stopped goes on as a round does: some nights may be lost. */
const REST_WITHIN_MS = 7 * 86_400_000;
const MAX_OPEN_BUILDS = 500;

export type SyncResult = RunResult;

export interface SyncOptions extends RunOptions {
  /** @default null: full when one is due, else incremental */
  kind?: SyncKind | null;
  resources?: readonly Resource[] | null;
  /** Deletes gone records even when `maxDeleteRatio` would hold them back. @default false */
  allowMassDelete?: boolean;
  /** Called before pages are fetched (`with-content.ts`): they end with its signal too, because the next sync is due. */
  giveWay?(): AbortSignal;
  onProgress?(resource: Resource, counts: WalkCounts, totalCount: number | null, runId: number): void;
}

/** Throws only errors from before the run began (`LockedError`, `StoreError`). A second identical run changes no row. */
export function runSync(options: SyncOptions): Promise<SyncResult> {
  return withRun(options, options.kind ?? "full", (run) => sync(options, run));
}

async function sync(options: SyncOptions, run: OpenRun): Promise<void> {
  const { settings } = options;
  const { startedAt, sql, log, abort, patience, totals, ending, clock } = run;
  const { unfinished } = totals;
  const { resources } = ending;
  const found = await patience("find the starting point", () => findStartingPoint(sql, startedAt));
  const root = await fetchRootListing(run.client);
  // A list that is asked for by its name is not left out.
  const leftOut = (!options.resources && settings.leaveOut) || [];
  const plan = planRun({
    ...found,
    hasUnsettledDeficit: found.before.isUnsettled,
    fullWalkSeconds: estimateFullWalks(found.lists, settings),
    kind: options.kind ?? null,
    resources: options.resources ?? RESOURCES.filter((one) => !leftOut.includes(one)),
    root,
    fullEveryDays: settings.fullEveryDays,
    now: startedAt,
  });
  await storePlan(run, root, plan.kind);
  const sizes = pageSizesOf(found.lists);
  const planned = plan.walks.map(({ resource }) => resource);
  Object.assign(resources, await noteDropped(run, { absent: plan.absent, leftOut, walked: planned }));
  for (const resource of plan.absent) {
    if (resources[resource]) continue;
    log.error({ resource }, "skipped a resource that is not in the root listing");
    const message = `the root listing has no ${resource}`;
    resources[resource] = skippedWalk(message);
    ending.error ??= new UnexpectedShapeError(message, { url: settings.baseUrl.origin });
  }
  const walks = walkLists(run, {
    turns: turnsOf(plan.walks, found),
    settings,
    allowMassDelete: options.allowMassDelete ?? false,
    before: found.before,
    sizes: async () => sizes,
    resumable: found.resumable,
    resources,
    unfinished,
    onProgress: (...progress) => options.onProgress?.(...progress, run.runId),
  });
  const schemas = recordUpstreamSchemas(run, root.resources, found.lists).catch((reason: unknown) => {
    abort.abort(reason);
    throw reason;
  });
  // Everything must end before the result is decided, because nothing may be written after the run is closed.
  const ends = await Promise.allSettled([walks, schemas]);
  for (const end of ends) if (end.status === "rejected") throw abort.signal.reason ?? end.reason;
  ending.brokenBy = await walks;
  for (const { resource } of plan.walks) {
    const { walk, shown, total_count } = resources[resource] ?? {};
    // A list that is not whole says so in its reason.
    if (walk === "whole" && shown !== undefined && total_count)
      run.warn(describeCountGap({ resource, counted: total_count, shown }));
  }

  await nameUnsteady(run, plan.walks, settings.ignoredFields);

  // The next phases run even if a list could not be read. Once the host is lost, each phase sends nothing and
  // counts what is left. Deletions come first, because a gone build need not be polled.
  const deletions = await confirmDeletions(run, {
    replicaLagMs: settings.replicaLagMs,
    resources: RESOURCES.filter((name) => /^(whole|head)$/.test(resources[name]?.walk ?? "")),
    onDeleted(resource, count) {
      const walk = resources[resource];
      if (walk) walk.deleted += count;
    },
  });
  Object.assign(unfinished, deletions);
  // A whole walk has seen every open build. After any other, those that it did not see are polled.
  if (planned.includes("build") && resources.build?.walk !== "whole") {
    const { stuckAfterMs, replicaLagMs } = settings;
    const polled = await followOpenBuilds(run, {
      stuckAfterMs,
      replicaLagMs,
      maxDetails: MAX_OPEN_BUILDS,
      maxStuck: MAX_OPEN_BUILDS,
      pageSize: settings.pageSize,
    });
    const facts = { now: clock.now(), notSeenSince: startedAt, stuckAfterMs };
    const count = () => patience("count the open builds that are due", () => countDueBuilds(sql, facts));
    unfinished.open_builds = Math.max(polled.unsettled, polled.due === 0 ? 0 : await count());
    unfinished.waiting += polled.waiting;
  }
  const { unsettled, ...references } = await repairReferences(run);
  Object.assign(totals, references);
  unfinished.references = unsettled;
  await patience("resolve superseded records", () => resolveSuperseded(sql, clock.now().toISOString()));
}

async function findStartingPoint(sql: Sql, startedAt: Date) {
  const ms = startedAt.getTime();
  const moment = (atMs: number) => new Date(atMs).toISOString();
  return {
    buildsReadSince: await findBuildsReadSince(sql),
    before: await findHeadFacts(sql, "build"),
    lists: await findListFacts(sql),
    resumable: await findResumableWalks(
      sql,
      moment(ms - RESUME_WITHIN_MS),
      moment(ms + CLOCK_TOLERANCE_MS),
      moment(ms - REST_WITHIN_MS),
    ),
  };
}

/** Stores what the run reads of which service. */
async function storePlan(run: OpenRun, root: ServiceRoot, kind: SyncKind): Promise<void> {
  const { sql, patience, runId, startedAt, client, ending, warn } = run;
  ending.kind = kind;
  const resources = [...Object.keys(root.resources), ...root.unknown];
  const at = startedAt.toISOString();
  await patience("store the service and the kind of the run", () =>
    noteService(sql, { baseUrl: client.baseUrl, resources, at }, { runId, kind }),
  );
  for (const resource of root.unknown) {
    warn(`the service has a resource '${resource}' that docmirror does not know; it is not mirrored`);
    const drift = [{ field: "", kind: "appeared" as const, detail: "a resource in the root listing" }];
    const facts = { resource, runId, observedAt: at };
    await patience("store a new resource", () => withTransaction(sql, (tx) => recordDrift(tx, facts, drift)));
  }
}

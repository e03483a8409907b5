import { setMaxListeners } from "node:events";
import { connect } from "../../store/connection/connect.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { findBuildsReadSince } from "../../store/ledger/list-freshness.ts";
import { assertService } from "../../store/ledger/mirrored-service.ts";
import { hasUnsettledDeficit } from "../../store/ledger/run-ledger.ts";
import { isSameEndpoint } from "../api/api-url.ts";
import type { Client } from "../api/client.ts";
import { findSizing, firstPageSize } from "../lists/page-sizes.ts";
import { estimateFullWalks, planRun, type WalkPlan } from "../lists/plan.ts";
import { createHeadJoin } from "../lists/read-head.ts";
import { fetchRootListing } from "../lists/root-listing.ts";
import {
  emptyCounts,
  isPartial,
  NOTHING_UNFINISHED,
  type RunSummary,
  skippedWalk,
  type WalkSummary,
} from "../lists/summary.ts";
import { compareRecords } from "../load/compare-records.ts";
import { normalizePage } from "../normalize/page.ts";
import { createCourse } from "../walk/course.ts";
import { createIdSet } from "../walk/id-set.ts";
import {
  createLookAheadRoom,
  createPageSource,
  type LookAheadRoom,
  lookAheadOf,
} from "../walk/page-source.ts";
import { createWalk } from "../walk/walk.ts";
import type { SyncOptions } from "./run.ts";
import { createWarnings } from "./warnings.ts";
import { createRunClient } from "./with-run.ts";

/**
 * Walks as a run would, compares every record with the stored one, and writes nothing: no rows, no ledger, no lock.
 * It does not look up references or missing records, or compare the count of a head, so a real run may find more.
 * Throws the errors of upstream and the database.
 */
export async function runDrySync(options: SyncOptions & { hasSchema: boolean }): Promise<RunSummary> {
  const { settings, clock } = options;
  const { signal } = options;
  // Every request and every place in the queue listens to it.
  setMaxListeners(0, signal);
  const startedAt = clock.now();
  const sql = options.hasSchema
    ? connect(settings.databaseUrl, { applicationName: "docmirror dry run" })
    : null;
  const warnings = createWarnings(options.log);
  const client = createRunClient(options, { log: options.log, signal, onWarning: warnings.warn });
  const resources: RunSummary["resources"] = {};
  try {
    if (sql) await assertService(sql, settings.baseUrl);
    const plan = planRun({
      kind: options.kind ?? null,
      resources: options.resources ?? null,
      root: await fetchRootListing(client),
      buildsReadSince: sql && (await findBuildsReadSince(sql)),
      hasUnsettledDeficit: sql !== null && (await hasUnsettledDeficit(sql, "build")),
      fullWalkSeconds: sql ? await estimateFullWalks(sql, settings) : { all: 0, build: 0 },
      fullEveryDays: settings.fullEveryDays,
      now: startedAt,
    });
    for (const resource of plan.absent)
      resources[resource] = skippedWalk(`the root listing has no ${resource}`);
    const room = createLookAheadRoom();
    await Promise.all(
      plan.walks.map(async (walk) => {
        resources[walk.resource] = await countWalk(options, walk, { client, sql, room, signal });
      }),
    );
    const finishedAt = clock.now();
    const { requests, bytes } = client.stats();
    const undone = { references: { resolved: 0, unresolved: 0 }, unfinished: { ...NOTHING_UNFINISHED } };
    const warned = warnings.list();
    return {
      ...{ run_id: null, kind: plan.kind },
      status: plan.absent.length > 0 || isPartial({ resources, ...undone }) ? "partial" : "succeeded",
      started_at: startedAt.toISOString(),
      finished_at: finishedAt.toISOString(),
      duration_ms: finishedAt.getTime() - startedAt.getTime(),
      ...{ requests, asked_for: client.asked(), bytes, resources, ...undone, transitions: 0 },
      ...(warned.length > 0 && { warnings: warned }),
    };
  } finally {
    await client.close();
    await sql?.end({ timeout: 5 });
  }
}

async function countWalk(
  { settings, onProgress }: SyncOptions,
  plan: WalkPlan,
  parts: { client: Client; sql: Sql | null; room: LookAheadRoom; signal: AbortSignal },
): Promise<WalkSummary> {
  const { client, sql, signal } = parts;
  const { resource, listPath } = plan;
  const size = await findSizing(sql, settings, resource);
  const pageSize = firstPageSize(settings.pageSize);
  const isListPath = (path: string) => isSameEndpoint(path, listPath, client.baseUrl);
  const course = createCourse({ resource, listPath, pageSize, isListPath });
  const source = createPageSource({ ...parts, resource, lookAhead: lookAheadOf(settings.concurrency) });
  const walk = createWalk({ resource, course, source, size: plan.kind === "full" ? size : null, signal });
  const counts = emptyCounts();
  const counted = createIdSet();
  const join = createHeadJoin();
  const pages = walk.pages();
  for (;;) {
    const step = await pages.next();
    if (step.done) {
      const { walk: verdict, reason, totalCount } = step.value;
      return { walk: verdict, ...(reason && { reason }), ...counts, total_count: totalCount };
    }
    const page = normalizePage(plan.resource, step.value.records ?? [], settings);
    // Pages overlap, and a dry run stores nothing, so records are counted once by their ids.
    const records = page.records.filter(({ id }) => counted.add(id));
    const compared = sql
      ? await sql.begin("read only", (tx) => compareRecords(tx, plan.resource, records))
      : { inserted: records.length, updated: 0, unchanged: 0, restored: 0 };
    counts.pages += 1;
    counts.records = walk.seen.size;
    for (const name of ["inserted", "updated", "unchanged", "restored"] as const)
      counts[name] += compared[name];
    counts.quarantined += page.rejected.length + step.value.holes.length;
    onProgress?.(plan.resource, counts, step.value.meta.totalCount, null);
    const isKnown = compared.inserted + compared.restored + page.rejected.length === 0;
    join.add({ ids: step.value.ids, isKnown });
    if (plan.kind === "head" && sql && join.isJoined()) walk.stop();
  }
}

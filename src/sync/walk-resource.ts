import type { Client } from "../api/client.ts";
import type { Clock } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import type { ResumableWalk, WalkCounts } from "../db/run-ledger.ts";
import type { UpstreamError } from "../errors.ts";
import type { Loader } from "../load/loader.ts";
import type { Logger } from "../log.ts";
import { closeWalk } from "./close-walk.ts";
import type { WalkPlan } from "./plan.ts";
import { readHead } from "./read-head.ts";
import { readList } from "./read-list.ts";
import { emptyCounts, type WalkSummary } from "./summary.ts";

export interface WalkResourceOptions {
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  runId: number;
  plan: WalkPlan;
  pageSize: number;
  lookAhead: number;
  resume: ResumableWalk | null;
  maxDeleteRatio: number;
  allowMassDelete: boolean;
  patience: Patience;
  signal: AbortSignal;
  onProgress(counts: WalkCounts, totalCount: number | null): void;
}

/** How a walk ended, and the failure of upstream that broke it off, if one did. */
export interface WalkEnding {
  summary: WalkSummary;
  brokenBy: UpstreamError | null;
}

/**
 * Walks one list as planned and loads it page by page. A head whose count does not agree is followed by a full walk where the plan allows
 * it. A walk that upstream breaks off ends as `not_whole` and keeps its checkpoint; a failure of the database, a stop or a bug is thrown.
 */
export async function walkResource(options: WalkResourceOptions): Promise<WalkEnding> {
  const { plan, log } = options;
  if (plan.kind === "full") return closeWalk(options, await readList(options, emptyCounts()), true);
  const head = await readHead(options);
  const { outcome, deficit, unstored } = head;
  if (outcome.walk !== "head" || deficit === unstored || !plan.mayWalkInFull) {
    return closeWalk(options, head, false);
  }
  log.warn(
    { resource: plan.resource, reason: outcome.reason },
    "the head does not agree; the list is read in full",
  );
  return closeWalk(options, await readList(options, head.counts), true);
}

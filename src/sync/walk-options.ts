import type { Client } from "../api/client.ts";
import type { Clock } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import type { ResumableWalk, WalkCounts } from "../db/run-ledger.ts";
import type { UpstreamError } from "../errors.ts";
import type { Loader } from "../load/loader.ts";
import type { Logger } from "../log.ts";
import type { Meters } from "../metrics/meters.ts";
import type { LookAheadRoom } from "../walk/look-ahead.ts";
import type { WalkPlan } from "./plan.ts";
import type { WalkSummary } from "./summary.ts";
import type { SyncSettings } from "./sync-settings.ts";

/** The options for the walk of one list. */
export interface WalkResourceOptions {
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  runId: number;
  plan: WalkPlan;
  pageSize: SyncSettings["pageSize"];
  lookAhead: number;
  room: LookAheadRoom;
  resume: ResumableWalk | null;
  maxDeleteRatio: number;
  replicaLagMs: number;
  allowMassDelete: boolean;
  patience: Patience;
  signal: AbortSignal;
  meters: Meters | undefined;
  onProgress(counts: WalkCounts, totalCount: number | null): void;
}

/** How a walk ended, and the failure of upstream that ended it early, or null. */
export interface WalkEnding {
  summary: WalkSummary;
  /** See `Unfinished`. 0 where the count was not compared. */
  deficit: number;
  brokenBy: UpstreamError | null;
}

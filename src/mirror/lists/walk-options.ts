import type { UpstreamError } from "../../base/errors.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import type { ResumableWalk, WalkCounts } from "../../store/ledger/run-ledger.ts";
import type { LookAheadRoom } from "../walk/page-source.ts";
import type { WalkPlan } from "./plan.ts";
import type { WalkSummary } from "./summary.ts";
import type { SyncSettings } from "./sync-settings.ts";

/** The options for the walk of one list. */
export interface WalkResourceOptions {
  plan: WalkPlan;
  pageSize: SyncSettings["pageSize"];
  lookAhead: number;
  room: LookAheadRoom;
  resume: ResumableWalk | null;
  maxDeleteRatio: number;
  replicaLagMs: number;
  allowMassDelete: boolean;
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

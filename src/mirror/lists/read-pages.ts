import { UpstreamError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { Checkpoint, ResumableWalk, WalkCounts, WalkStart } from "../../store/ledger/run-ledger.ts";
import type { WalkOutcome } from "../walk/course.ts";
import type { IdSet } from "../walk/id-set.ts";
import type { LookAheadRoom } from "../walk/page-source.ts";
import type { Walk } from "../walk/walk.ts";
import type { WalkPlan } from "./plan.ts";
import type { SettledPages } from "./settle-pages.ts";
import type { SyncSettings } from "./sync-settings.ts";

/** The options for the walk of one list. */
export interface WalkOptions extends Pick<SyncSettings, "pageSize" | "maxDeleteRatio" | "replicaLagMs"> {
  plan: WalkPlan;
  lookAhead: number;
  room: LookAheadRoom;
  resume: ResumableWalk | null;
  allowMassDelete: boolean;
  meters: Meters | undefined;
  onProgress(counts: WalkCounts, totalCount: number | null): void;
}

/** The result of reading a list, before its walk is closed. */
export interface Reading {
  start: WalkStart;
  outcome: WalkOutcome;
  /** The failure of upstream that ended it early, or null. */
  brokenBy: UpstreamError | null;
  seen: IdSet;
  counts: WalkCounts;
  /** The number of pages remembered for the next walk. */
  memorized: number;
  /** Stores the page size for the next walk. */
  keepSize?(tx: TransactionSql): Promise<void>;
  checkpoint: Checkpoint | null;
  /** See `sync.walks`. */
  deficit: number | null;
  unstored: number | null;
  /** The part of a head's `deficit` that the newest whole walk explains. 0 where the whole list was read. */
  explained: number;
  /** The reason of the outcome is that a replica which is behind has answered. @default false */
  isLagging?: boolean;
  /** How far `total_count` rose and fell from page to page, each summed up. */
  moved: { up: number; down: number };
}

/** Stores all pages of a walk. A failure of upstream ends it as `not_whole`; any other is thrown. Then nothing more is written. */
export async function readPages(walk: Walk, settled: SettledPages, log: Logger) {
  const pages = walk.pages();
  const moved = { up: 0, down: 0 };
  let counted: number | null = null;
  try {
    for (;;) {
      const step = await pages.next();
      if (step.done) {
        await settled.end();
        return { outcome: step.value, brokenBy: null, moved };
      }
      const { totalCount } = step.value.meta;
      if (totalCount !== null && counted !== null) {
        moved.up += Math.max(0, totalCount - counted);
        moved.down += Math.max(0, counted - totalCount);
      }
      counted = totalCount ?? counted;
      await settled.add(step.value);
    }
  } catch (error) {
    const [ended] = await Promise.allSettled([settled.end()]);
    if (!(error instanceof UpstreamError)) throw error;
    if (ended.status === "rejected") throw ended.reason;
    log.error({ error: error.message, hint: error.hint }, "walk broke off");
    const records = walk.seen.size;
    const outcome = { walk: "not_whole", reason: error.message, totalCount: null, records } as const;
    return { outcome, brokenBy: error, moved };
  }
}

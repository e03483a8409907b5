import type { Resource } from "../../resources/resources.ts";
import type { WalkCounts } from "../../store/ledger/run-ledger.ts";
import type { RunKind, RunStatus, Unfinished, WalkVerdict } from "../../store/schema/runs.ts";
import type { RequestKind } from "../api/host.ts";

/** The result for one resource in the run summary. */
export interface WalkSummary extends WalkCounts {
  walk: WalkVerdict;
  /** Why the walk is not whole, or why its deletions are held back; absent when both are fine. */
  reason?: string;
  /** The service dropped the list, or a setting leaves it out: its rows are kept, and `reason` makes no run partial. Else absent. */
  dropped?: true;
  /** The records that a reading from end to end showed, where they are not `total_count`. Else absent. */
  shown?: number;
  /** The head came from a replica that is behind; `reason` says so. Its count was not compared. Else absent. */
  lagging?: true;
  total_count: number | null;
  /** The part of a round that was read again below the head; absent without one. `reason`: why it read nothing, or broke off. */
  round?: { records: number; reason?: string };
  /** The search for what came or went below the head, and whether it settled the difference; absent without one. */
  search?: { requests: number; settled: boolean };
}

/** The pages of the files, which a sync fetches after its lists when `DOCMIRROR_CONTENT` is on. */
export interface ContentSummary {
  fetched: number;
  /** Pages that the server said are unchanged. */
  unchanged: number;
  /** Pages that could not be had. `mirror.file_contents.reason` says why. */
  failed: number;
  /** Pages that `robots.txt` keeps from robots. The same column names the rule. */
  left_out: number;
  /** Pages that are due and wait for the next sync. Null when they were not counted, as after a stop. */
  left: number | null;
  /**
   * `done`: nothing was left; `budget`: the time was up; `lost`: the host did not answer any more; `stopped`; `busy`:
   * another sync is fetching pages; `failed`: see `error`.
   */
  ended: "done" | "budget" | "lost" | "stopped" | "busy" | "failed";
  requests: number;
  bytes: number;
  duration_ms: number;
  error?: string;
  warnings?: string[];
}

/** The document that `sync --json` prints (`docs/contract.md`, "The run summary"). */
export interface RunSummary {
  run_id: number;
  kind: RunKind;
  status: Exclude<RunStatus, "running">;
  started_at: string;
  finished_at: string;
  duration_ms: number;
  requests: number;
  /** The same by what they asked for. */
  asked_for: Record<RequestKind, number>;
  bytes: number;
  resources: Partial<Record<Resource, WalkSummary>>;
  references: { resolved: number; unresolved: number };
  unfinished: Unfinished;
  transitions: number;
  /** Records with U+FFFD in place of bytes that did not fit their charset. Absent when there are none. */
  damaged?: number;
  error?: string;
  /** Absent when no pages were to be fetched. It has no part in `status` and in the exit code. */
  content?: ContentSummary;
  /** Other warnings, such as that requests were paused for a while; absent when there are none. */
  warnings?: string[];
}

export function emptyCounts(): WalkCounts {
  return {
    pages: 0,
    records: 0,
    inserted: 0,
    updated: 0,
    unchanged: 0,
    deleted: 0,
    restored: 0,
    quarantined: 0,
  };
}

/** The result for a resource that was not walked. */
export function skippedWalk(reason: string): WalkSummary {
  return { walk: "skipped", reason, ...emptyCounts(), total_count: null };
}

export const NOTHING_UNFINISHED: Unfinished = {
  deletions: 0,
  waiting: 0,
  references: 0,
  open_builds: 0,
  deficit: 0,
};

/**
 * Success needs every walk whole or joined at its head, no count of a head above the records here, no held-back
 * deletion, no quarantined record, and no phase with work left. A count below them is no fault, because the next sync
 * searches for it. Nor is a replica that is behind, or a deletion that waits for one.
 */
export function isPartial({ resources, unfinished }: Pick<RunSummary, "resources" | "unfinished">): boolean {
  const { deletions, references, open_builds } = unfinished;
  if (deletions + references + open_builds > 0) return true;
  return Object.values(resources).some(
    ({ walk, reason, lagging, dropped, quarantined }) =>
      walk === "not_whole" || (reason !== undefined && !lagging && !dropped) || quarantined > 0,
  );
}

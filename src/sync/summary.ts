import type { WalkCounts } from "../db/run-ledger.ts";
import type { RunKind, RunStatus, WalkVerdict } from "../db/schema/runs.ts";
import type { Resource } from "../wire/resources.ts";

/** One resource in the run summary. */
export interface WalkSummary extends WalkCounts {
  walk: WalkVerdict;
  /** Why the walk is not whole, or why its deletions are held back; absent when there is nothing to say. */
  reason?: string;
  total_count: number | null;
}

/** What `sync --json` prints (`product.md` section 3). */
export interface RunSummary {
  run_id: number | null;
  kind: RunKind;
  status: Exclude<RunStatus, "running">;
  started_at: string;
  finished_at: string;
  duration_ms: number;
  requests: number;
  bytes: number;
  resources: Partial<Record<Resource, WalkSummary>>;
  references: { resolved: number; unresolved: number };
  transitions: number;
  /** What went wrong, when the status is not `succeeded`. */
  error?: string;
  /** What else is worth knowing, such as that the service was left alone for a while; absent when there is nothing. */
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

/** Plain success needs every walk whole or ended at its head, no deletion held back, and no record put aside. */
export function isPartial(resources: RunSummary["resources"]): boolean {
  return Object.values(resources).some(
    ({ walk, reason, quarantined }) => walk === "not_whole" || reason !== undefined || quarantined > 0,
  );
}

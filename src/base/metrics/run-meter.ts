import { Counter, type Registry } from "prom-client";
import {
  OUTCOMES,
  type OutcomeLabel,
  RESOURCE_LABELS,
  type ResourceLabel,
  RUN_KINDS,
  RUN_STATUSES,
  type RunKindLabel,
  type RunStatusLabel,
} from "./labels.ts";

/** How many records had each outcome. Outcomes that are absent are 0; other keys do not matter. */
export type OutcomeCounts = Partial<Record<OutcomeLabel, number>>;

export type RunMeter = ReturnType<typeof createRunMeter>;

/** Counts the runs of this process and what became of the records that they read. */
export function createRunMeter(registry: Registry) {
  const registers = [registry];
  const runs = new Counter({
    name: "docmirror_runs_total",
    help: "Runs of this process that ended, by kind and by how they ended.",
    labelNames: ["kind", "status"],
    registers,
  });
  const records = new Counter({
    name: "docmirror_records_total",
    help: "Records that runs of this process read, by what became of them.",
    labelNames: ["resource", "outcome"],
    registers,
  });
  for (const kind of RUN_KINDS) for (const status of RUN_STATUSES) runs.inc({ kind, status }, 0);
  for (const resource of RESOURCE_LABELS)
    for (const outcome of OUTCOMES) records.inc({ resource, outcome }, 0);

  /** Records were stored, or found unchanged. */
  function settled(resource: ResourceLabel, counts: OutcomeCounts): void {
    for (const outcome of OUTCOMES) records.inc({ resource, outcome }, counts[outcome] ?? 0);
  }

  return {
    /** A run ended. */
    ended: (kind: RunKindLabel, status: RunStatusLabel) => runs.inc({ kind, status }),
    settled,
    /**
     * Counts a walk by its running totals: each call adds what came since the last one. `before` are the totals at its
     * start, which an earlier run may have counted. `isOver` says that the totals are the last ones: until then it is
     * not known which records are unchanged, because they are the rest.
     */
    followWalk(resource: ResourceLabel, before: OutcomeCounts) {
      const counted = { ...before };
      return (totals: OutcomeCounts, isOver: boolean): void => {
        for (const outcome of OUTCOMES) {
          if (outcome === "unchanged" && !isOver) continue;
          const total = totals[outcome] ?? 0;
          const since = total - (counted[outcome] ?? 0);
          // A counter never goes down.
          if (since <= 0) continue;
          records.inc({ resource, outcome }, since);
          counted[outcome] = total;
        }
      };
    },
  };
}

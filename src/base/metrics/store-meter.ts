import { Counter, Histogram, type Registry } from "prom-client";
import { RESOURCE_LABELS, type ResourceLabel } from "./labels.ts";

export type StoreMeter = ReturnType<typeof createStoreMeter>;

/** Times the work in the database. */
export function createStoreMeter(registry: Registry) {
  const registers = [registry];
  const loads = new Histogram({
    name: "docmirror_load_duration_seconds",
    help: "Seconds to load a batch of records into the database.",
    labelNames: ["resource"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const refreshes = new Histogram({
    name: "docmirror_refresh_duration_seconds",
    help: "Seconds to refresh the stored answers of the reports.",
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  const failures = new Counter({
    name: "docmirror_refresh_failures_total",
    help: "Refreshes of the reports that failed.",
    registers,
  });
  for (const resource of RESOURCE_LABELS) loads.zero({ resource });
  return {
    /** Records were loaded in one transaction, waits for a database that was away included. */
    loaded: (resource: ResourceLabel, seconds: number) => loads.observe({ resource }, seconds),
    /** The stored answers of the reports were refreshed, or that failed. */
    refreshed(seconds: number, isGood: boolean): void {
      refreshes.observe(seconds);
      if (!isGood) failures.inc();
    },
  };
}

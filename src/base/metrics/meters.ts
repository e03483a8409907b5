import { Gauge, Registry } from "prom-client";
import type { CommandLabel } from "./labels.ts";
import { addBuildInfo, addProcessMetrics } from "./process-metrics.ts";
import { createRequestMeter } from "./request-meter.ts";
import { createRunMeter } from "./run-meter.ts";
import { createStoreMeter } from "./store-meter.ts";

export type Meters = ReturnType<typeof createMeters>;

/** What one process counts about its own work. Nothing is global, so several can be in one process. */
export function createMeters() {
  const registry = new Registry();
  addBuildInfo(registry);
  const meters = {
    requests: createRequestMeter(registry),
    runs: createRunMeter(registry),
    store: createStoreMeter(registry),
    schedule: createScheduleMeter(registry),
    registry,
  };
  addProcessMetrics(registry);
  return meters;
}

/** When each schedule is due next. */
function createScheduleMeter(registry: Registry) {
  const schedules = new Map<CommandLabel, () => Date | null>();
  new Gauge({
    name: "docmirror_next_run_timestamp_seconds",
    help: "When the schedule of this process is due next, in seconds since 1970.",
    labelNames: ["command"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [command, next] of schedules) {
        const at = next();
        if (at !== null) this.set({ command }, at.getTime() / 1000);
      }
    },
  });
  return {
    /** `next` is asked at each scrape; null when the line is never due again. */
    watch: (command: CommandLabel, next: () => Date | null) => void schedules.set(command, next),
  };
}

import { Registry } from "prom-client";
import { addBuildInfo, addProcessMetrics } from "./process-metrics.ts";
import { createRequestMeter, type RequestMeter } from "./request-meter.ts";
import { createRunMeter, type RunMeter } from "./run-meter.ts";
import { createScheduleMeter, type ScheduleMeter } from "./schedule-meter.ts";
import { createStoreMeter, type StoreMeter } from "./store-meter.ts";

/** What one process counts about its own work. Nothing is global, so several can be in one process. */
export interface Meters {
  readonly requests: RequestMeter;
  readonly runs: RunMeter;
  readonly store: StoreMeter;
  readonly schedule: ScheduleMeter;
  readonly registry: Registry;
}

export function createMeters(): Meters {
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

import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { readVersion } from "../version.ts";

/** Gauges whose names end as if they were counters, which linters refuse. */
const MISNAMED = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** Which program this is. Its value is always 1. */
export function addBuildInfo(registry: Registry): void {
  const gauge = new Gauge({
    name: "docmirror_build_info",
    help: "The version of docmirror and of Node. Always 1.",
    labelNames: ["version", "node"],
    registers: [registry],
  });
  gauge.set({ version: readVersion(), node: process.version }, 1);
}

/** A registry that only says which program this is, for a process that ends. */
export function createBuildInfoRegistry(): Registry {
  const registry = new Registry();
  addBuildInfo(registry);
  return registry;
}

/** The metrics of any Node process: memory, heap, event loop, garbage collection, open files. */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}

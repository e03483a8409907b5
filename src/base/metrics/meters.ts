import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { readVersion } from "../version.ts";
import {
  type Answer,
  answerLabel,
  type CommandLabel,
  OUTCOMES,
  type OutcomeLabel,
  REQUEST_LABELS,
  type RequestLabel,
  RUN_KINDS,
  RUN_STATUSES,
  type RunKindLabel,
  type RunStatusLabel,
} from "./labels.ts";

export type Meters = ReturnType<typeof createMeters>;

/** The counters of one process about its own work. Nothing is global, so several can be in one process. */
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
  // Of any Node process: memory, heap, event loop, garbage collection, open files.
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return meters;
}

/** When each job of this process is due next; null when its line is never due again. */
type FindNextRuns = () => readonly { job: CommandLabel; due_at: string | null }[];

function createScheduleMeter(registry: Registry) {
  let findNextRuns: FindNextRuns = () => [];
  new Gauge({
    name: "docmirror_next_run_timestamp_seconds",
    help: "When the schedule of this process is due next, in seconds since 1970.",
    labelNames: ["command"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { job, due_at } of findNextRuns()) {
        if (due_at !== null) this.set({ command: job }, Date.parse(due_at) / 1000);
      }
    },
  });
  return {
    /** `find` is asked at each scrape. */
    watch(find: FindNextRuns) {
      findNextRuns = find;
    },
  };
}

/** Gauges whose names end as if they were counters, which linters refuse. */
const MISNAMED = ["handles", "requests", "resources"].map((what) => `nodejs_active_${what}_total`);

function addBuildInfo(registry: Registry): void {
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

/** Requests that wait for their turn, and requests that were sent and have no whole reply yet. */
type QueueDepth = Record<"waiting" | "running", number>;

export type RequestMeter = ReturnType<typeof createRequestMeter>;

/** The answers that are usual enough to begin at 0. */
const USUAL_ANSWERS: readonly Answer[] = [200, 404, 429, 500, 502, 503, 504, "timeout", "network", "shape"];
const RETRIED_ANSWERS: readonly Answer[] = [408, 425, 429, 500, 502, 503, 504, "timeout", "network", "shape"];

function createRequestMeter(registry: Registry) {
  const registers = [registry];
  const queues = new Set<() => QueueDepth>();
  const requests = new Counter({
    name: "docmirror_http_requests_total",
    help: "Requests to the service, retries and redirects included, by what they asked for and how they ended.",
    labelNames: ["resource", "code"],
    registers,
  });
  const retries = new Counter({
    name: "docmirror_http_retries_total",
    help: "Requests that were sent again, by how the try before had ended.",
    labelNames: ["reason"],
    registers,
  });
  const waits = new Counter({
    name: "docmirror_http_rate_wait_seconds_total",
    help: "Seconds that requests waited for the rate and for pauses that the service asked for, all requests added up.",
    registers,
  });
  const durations = new Histogram({
    name: "docmirror_http_request_duration_seconds",
    help: "Seconds from sending a request to the last byte of its reply, or to its failure.",
    labelNames: ["resource"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  new Gauge({
    name: "docmirror_http_queue_requests",
    help: "Requests that wait for their turn, and requests that run.",
    labelNames: ["state"],
    registers,
    collect() {
      for (const state of ["waiting", "running"] as const) {
        const depths = [...queues].map((depth) => depth()[state]);
        this.set(
          { state },
          depths.reduce((sum, depth) => sum + depth, 0),
        );
      }
    },
  });
  for (const resource of REQUEST_LABELS) {
    durations.zero({ resource });
    for (const answer of USUAL_ANSWERS) requests.inc({ resource, code: answerLabel(answer) }, 0);
  }
  for (const answer of RETRIED_ANSWERS) retries.inc({ reason: answerLabel(answer) }, 0);
  return {
    /** A request ended. Each one that was sent is counted once; retries and redirects are requests too. */
    answered: (resource: RequestLabel, answer: Answer) =>
      requests.inc({ resource, code: answerLabel(answer) }),
    /** From sending to the last byte of the reply, or until it failed. */
    took: (resource: RequestLabel, seconds: number) => durations.observe({ resource }, seconds),
    retried: (reason: Answer) => retries.inc({ reason: answerLabel(reason) }),
    waited: (seconds: number) => waits.inc(Math.max(0, seconds)),
    /** Adds a queue to the depths that are shown, until the returned function is called. */
    watchQueue(depth: () => QueueDepth) {
      queues.add(depth);
      return () => void queues.delete(depth);
    },
  };
}

/** The records by outcome. Outcomes that are absent are 0; other keys do not matter. */
type OutcomeCounts = Partial<Record<OutcomeLabel, number>>;

function createRunMeter(registry: Registry) {
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
  for (const resource of RESOURCES) for (const outcome of OUTCOMES) records.inc({ resource, outcome }, 0);

  return {
    ended: (kind: RunKindLabel, status: RunStatusLabel) => runs.inc({ kind, status }),
    settled(resource: Resource, counts: OutcomeCounts): void {
      for (const outcome of OUTCOMES) records.inc({ resource, outcome }, counts[outcome] ?? 0);
    },
    /**
     * Counts a walk by its running totals: each call adds what came since the last one. `before` are the totals at its
     * start, which an earlier run may have counted. `isOver` says that the totals are the last ones: until then it is
     * not known which records are unchanged, because they are the rest.
     */
    followWalk(resource: Resource, before: OutcomeCounts) {
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

export type StoreMeter = ReturnType<typeof createStoreMeter>;

function createStoreMeter(registry: Registry) {
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
  for (const resource of RESOURCES) loads.zero({ resource });
  return {
    /** Records were loaded in one transaction, waits for a database that was away included. */
    loaded: (resource: Resource, seconds: number) => loads.observe({ resource }, seconds),
    refreshed(seconds: number, isGood: boolean): void {
      refreshes.observe(seconds);
      if (!isGood) failures.inc();
    },
  };
}

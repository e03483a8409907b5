import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { type Answer, answerLabel, REQUEST_LABELS, type RequestLabel } from "./labels.ts";

/** Requests that wait for their turn, and requests that were sent and have no whole reply yet. */
export interface QueueDepth {
  waiting: number;
  running: number;
}

/** Counts the requests to upstream. */
export interface RequestMeter {
  /** A request ended. Each one that was sent is counted once; retries and redirects are requests too. */
  answered(resource: RequestLabel, answer: Answer): void;
  /** How long a reply took, from sending to its last byte, or until it failed. */
  took(resource: RequestLabel, seconds: number): void;
  /** A request will be sent again. */
  retried(reason: Answer): void;
  /** How long a request waited until the rate, and the pauses that upstream asked for, let it go. */
  waited(seconds: number): void;
  /** Adds a queue to the depths that are shown, until the returned function is called. */
  watchQueue(depth: () => QueueDepth): () => void;
}

/** The answers that are usual enough to begin at 0. */
const USUAL_ANSWERS: readonly Answer[] = [200, 404, 429, 500, 502, 503, 504, "timeout", "network", "shape"];
const RETRIED_ANSWERS: readonly Answer[] = [408, 425, 429, 500, 502, 503, 504, "timeout", "network", "shape"];

export function createRequestMeter(registry: Registry): RequestMeter {
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
      const depths = [...queues].map((depth) => depth());
      this.set({ state: "waiting" }, sum(depths.map(({ waiting }) => waiting)));
      this.set({ state: "running" }, sum(depths.map(({ running }) => running)));
    },
  });
  for (const resource of REQUEST_LABELS) {
    durations.zero({ resource });
    for (const answer of USUAL_ANSWERS) requests.inc({ resource, code: answerLabel(answer) }, 0);
  }
  for (const answer of RETRIED_ANSWERS) retries.inc({ reason: answerLabel(answer) }, 0);
  return {
    answered: (resource, answer) => requests.inc({ resource, code: answerLabel(answer) }),
    took: (resource, seconds) => durations.observe({ resource }, seconds),
    retried: (reason) => retries.inc({ reason: answerLabel(reason) }),
    waited: (seconds) => waits.inc(Math.max(0, seconds)),
    watchQueue(depth) {
      queues.add(depth);
      return () => void queues.delete(depth);
    },
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

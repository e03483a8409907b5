import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { type Answer, answerLabel, REQUEST_LABELS, type RequestLabel } from "./labels.ts";

/** Requests that wait for their turn, and requests that were sent and have no whole reply yet. */
export interface QueueDepth {
  waiting: number;
  running: number;
}

export type RequestMeter = ReturnType<typeof createRequestMeter>;

/** The answers that are usual enough to begin at 0. */
const USUAL_ANSWERS: readonly Answer[] = [200, 404, 429, 500, 502, 503, 504, "timeout", "network", "shape"];
const RETRIED_ANSWERS: readonly Answer[] = [408, 425, 429, 500, 502, 503, 504, "timeout", "network", "shape"];

/** Counts the requests to upstream. */
export function createRequestMeter(registry: Registry) {
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
      for (const state of ["waiting", "running"] as const)
        this.set(
          { state },
          [...queues].reduce((sum, depth) => sum + depth()[state], 0),
        );
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
    /** How long a reply took, from sending to its last byte, or until it failed. */
    took: (resource: RequestLabel, seconds: number) => durations.observe({ resource }, seconds),
    /** A request will be sent again. */
    retried: (reason: Answer) => retries.inc({ reason: answerLabel(reason) }),
    /** How long a request waited until the rate, and the pauses that upstream asked for, let it go. */
    waited: (seconds: number) => waits.inc(Math.max(0, seconds)),
    /** Adds a queue to the depths that are shown, until the returned function is called. */
    watchQueue(depth: () => QueueDepth) {
      queues.add(depth);
      return () => void queues.delete(depth);
    },
  };
}

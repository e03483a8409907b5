import PQueue from "p-queue";

export interface RequestQueueOptions {
  /** Requests in flight at once. */
  concurrency: number;
  /** Requests a second, evenly spaced; 0 for no limit. */
  ratePerSecond: number;
}

/**
 * The one queue that every request to the host passes. One start per interval of `1000 / rate` milliseconds is the
 * form that keeps to the rate as the server sees it: with a larger cap two windows can meet and let a third more through within a second.
 */
export function createRequestQueue({ concurrency, ratePerSecond }: RequestQueueOptions): PQueue {
  if (ratePerSecond === 0) return new PQueue({ concurrency });
  return new PQueue({ concurrency, interval: 1000 / ratePerSecond, intervalCap: 1 });
}

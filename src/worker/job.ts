/** How a job's run ended: `busy` is for work that another process is doing just now, and is no failure. */
export type JobOutcome = "done" | "busy" | "failed";

/** Work that the worker does by the clock. */
export interface Job {
  readonly name: string;
  readonly cron: string;
  /** An IANA name. */
  readonly timezone: string;
  /** Never called again before it has ended. When `signal` is aborted it ends soon, by its reason. What it throws else counts as `failed`. */
  run(signal: AbortSignal): Promise<JobOutcome>;
  /** The waits before a failed run is tried again; after the last one the job waits for its next tick. @default none */
  readonly retryAfterMs?: readonly number[];
  /** Whether the first run is at the start rather than at the first tick. @default false */
  readonly startsAtOnce?: boolean;
  /** Up to when all work is done, or null where that is not known; a due time later than that is made up for. @default ticks that were missed are gone */
  lastGoodAt?(signal: AbortSignal): Promise<Date | null>;
}

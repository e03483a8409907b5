/** How a job's run ended. `busy` means that another process is doing the work now, which is not a failure. */
export type JobOutcome = "done" | "busy" | "failed";

/** Work that the worker does on a schedule. */
export interface Job {
  readonly name: string;
  readonly cron: string;
  /** An IANA name. */
  readonly timezone: string;
  /**
   * Never called again before it has ended. When `signal` is aborted it soon throws its reason. Any other
   * error counts as `failed`. It calls `rest` when only work is left that may wait. The next tick aborts the
   * signal that `rest` gives, and the job runs again as soon as this run has ended.
   */
  run(signal: AbortSignal, rest?: () => AbortSignal): Promise<JobOutcome>;
  /** The waits before a failed run is tried again; after the last one it waits for its next tick. @default none */
  readonly retryAfterMs?: readonly number[];
  /** Whether the first run is at the start rather than at the first tick. @default false */
  readonly startsAtOnce?: boolean;
  /** Work is done up to this moment; null: not known. At the start, a later due time is run late. @default none is */
  lastGoodAt?(signal: AbortSignal): Promise<Date | null>;
}

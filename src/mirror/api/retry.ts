import type { Clock } from "../../base/clock.ts";
import { HttpStatusError, type UpstreamError } from "../../base/errors.ts";
import { fateOf, isRefusal } from "./fates.ts";

const BASE_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;
/** A longer `Retry-After` is not waited for: the request fails, and the run ends with what it has. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000;

interface RetryOptions {
  retries: number;
  clock: Clock;
  signal: AbortSignal | undefined;
  /** Called before each retry. `waitMs` is null when the gate holds all requests back instead. */
  onRetry(error: UpstreamError, attempt: number, waitMs: number | null): void;
  /** @default Math.random */
  random?: () => number;
}

/** The same request may succeed later. `attempt` counts from 1. */
function isRetryable(error: unknown, attempt: number): error is UpstreamError {
  if (error instanceof HttpStatusError && (error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) return false;
  return attempt <= (fateOf(error)?.again ?? 0);
}

/** The wait after try number `attempt`: the `Retry-After`, or else full jitter below a limit that doubles. */
export function retryWaitMs(error: UpstreamError, attempt: number, random = Math.random): number {
  const asked = error instanceof HttpStatusError ? error.retryAfterMs : undefined;
  return asked ?? Math.round(random() * Math.min(MAX_WAIT_MS, BASE_WAIT_MS * 2 ** (attempt - 1)));
}

/** Throws the last error when a retry cannot help or all tries are used. After a refusal, `attempt` itself waits at the gate. */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  { retries, clock, signal, onRetry, random }: RetryOptions,
): Promise<T> {
  for (let number = 1; ; number++) {
    signal?.throwIfAborted();
    try {
      const value = await attempt(number);
      signal?.throwIfAborted();
      return value;
    } catch (error) {
      // Once the host is lost, its last failure is the reason of the signal: by its class it may be sent again.
      signal?.throwIfAborted();
      if (number > retries || !isRetryable(error, number)) throw error;
      const waitMs = isRefusal(error) ? null : retryWaitMs(error, number, random);
      onRetry(error, number, waitMs);
      if (waitMs !== null) await clock.sleep(waitMs, signal);
    }
  }
}

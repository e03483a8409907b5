import type { Clock } from "../clock.ts";
import {
  HttpStatusError,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
  WrongAddressError,
} from "../errors.ts";
import { BodyTooLargeError } from "./body.ts";
import { ProxyRefusedError } from "./proxy-errors.ts";

/** The first wait's upper bound; it doubles with every further try. */
const BASE_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;
/** A longer `Retry-After` is not slept through: the request fails, and the run ends with what it has. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000;
/** A proxy's error page with status 200 may pass; a server that speaks another language will not. */
const MAX_SHAPE_RETRIES = 2;

export interface RetryOptions {
  /** Tries after the first. */
  retries: number;
  clock: Clock;
  signal: AbortSignal | undefined;
  /** Told before each further try; `waitMs` is null where the wait is everyone's. */
  onRetry(error: UpstreamError, attempt: number, waitMs: number | null): void;
  /** @default Math.random */
  random?: () => number;
}

/** Whether the same request may succeed later: the one place that decides it. `attempt` counts from 1. */
export function isRetryable(error: unknown, attempt: number): error is UpstreamError {
  if (error instanceof HttpStatusError) {
    if ((error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) return false;
    return error.status >= 500 || error.status === 429 || error.status === 408 || error.status === 425;
  }
  if (error instanceof WrongAddressError) return false;
  if (error instanceof UnexpectedShapeError) {
    return attempt <= MAX_SHAPE_RETRIES && !(error.cause instanceof BodyTooLargeError);
  }
  if (error instanceof ProxyRefusedError) return false;
  return error instanceof NetworkError || error instanceof TimeoutError;
}

/** A reply that asks not only this request to wait. The gate to the host sees to that, for all of them. */
export function isRefusal(error: unknown): error is HttpStatusError {
  return error instanceof HttpStatusError && (error.status === 429 || error.status === 503);
}

/** The wait before the try that follows `attempt`: what `Retry-After` asked for, else full jitter below a ceiling that doubles. */
export function retryWaitMs(
  error: UpstreamError,
  attempt: number,
  random: () => number = Math.random,
): number {
  const asked = error instanceof HttpStatusError ? error.retryAfterMs : undefined;
  return asked ?? Math.round(random() * Math.min(MAX_WAIT_MS, BASE_WAIT_MS * 2 ** (attempt - 1)));
}

/**
 * Runs `attempt`, which is given the number of its try from 1, until it succeeds, fails in a way that no
 * repetition repairs, or the tries are used up; then it throws the last error. Between tries it waits by
 * `retryWaitMs`, but not after refusals: `attempt` itself waits as long as everyone does.
 */
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
      if (number > retries || !isRetryable(error, number)) throw error;
      const waitMs = isRefusal(error) ? null : retryWaitMs(error, number, random);
      onRetry(error, number, waitMs);
      if (waitMs !== null) await clock.sleep(waitMs, signal);
    }
  }
}

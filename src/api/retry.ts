import pRetry, { AbortError } from "p-retry";
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
 * Runs `attempt`, which is told the number of its try from 1, until it succeeds, fails in a way that no repetition mends, or the tries are used up; then its last error is
 * thrown. Between tries it waits by `retryWaitMs`, but for refusals: `attempt` itself waits as long as everyone does.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  return pRetry(
    async (attemptNumber) => {
      options.signal?.throwIfAborted();
      try {
        return await attempt(attemptNumber);
      } catch (error) {
        // p-retry takes every error for passing, and a TypeError for a fault of the network.
        throw isRetryable(error, 1) ? error : new AbortError(error as Error);
      }
    },
    {
      retries: options.retries,
      minTimeout: 0,
      maxTimeout: 0,
      shouldRetry: ({ error, attemptNumber }) => isRetryable(error, attemptNumber),
      async onFailedAttempt({ error, attemptNumber, retriesLeft }) {
        if (retriesLeft === 0 || !isRetryable(error, attemptNumber)) return;
        const waitMs = isRefusal(error) ? null : retryWaitMs(error, attemptNumber, options.random);
        options.onRetry(error, attemptNumber, waitMs);
        if (waitMs !== null) await options.clock.sleep(waitMs, options.signal);
      },
      ...(options.signal && { signal: options.signal }),
    },
  );
}

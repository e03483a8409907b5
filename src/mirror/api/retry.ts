import type { Clock } from "../../base/clock.ts";
import {
  HttpStatusError,
  isThrottled,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
  WrongAddressError,
} from "../../base/errors.ts";
import { BodyTooLargeError } from "./body.ts";
import { isBrokenHead, LastingNetworkError } from "./upstream-errors.ts";

const BASE_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;
/** A longer `Retry-After` is not waited for: the request fails, and the run ends with what it has. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000;
/** A proxy's error page with status 200, or a broken head, may be gone soon. A server with another interface stays wrong. */
const MAX_SHAPE_RETRIES = 2;

interface RetryOptions {
  retries: number;
  clock: Clock;
  signal: AbortSignal | undefined;
  /** Called before each retry. `waitMs` is null when the gate holds all requests back instead. */
  onRetry(error: UpstreamError, attempt: number, waitMs: number | null): void;
  /** @default Math.random */
  random?: () => number;
}

/** Whether the same request may succeed later. Only this function decides that. `attempt` counts from 1. */
export function isRetryable(error: unknown, attempt: number): error is UpstreamError {
  if (error instanceof HttpStatusError) {
    if ((error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) return false;
    return error.status >= 500 || isThrottled(error) || error.status === 408 || error.status === 425;
  }
  if (error instanceof WrongAddressError || error instanceof LastingNetworkError) return false;
  if (error instanceof UnexpectedShapeError || (error instanceof NetworkError && isBrokenHead(error.cause)))
    return attempt <= MAX_SHAPE_RETRIES && !(error.cause instanceof BodyTooLargeError);
  return error instanceof NetworkError || error instanceof TimeoutError;
}

/** A reply that asks all requests to wait, not only this one. The gate to the host makes them wait. */
export function isRefusal(error: unknown): error is HttpStatusError {
  return error instanceof HttpStatusError && (isThrottled(error) || error.status === 503);
}

/** The service says that there is no such record or page. */
export function isGone(error: unknown): error is HttpStatusError {
  return error instanceof HttpStatusError && (error.status === 404 || error.status === 410);
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
      if (number > retries || !isRetryable(error, number)) throw error;
      const waitMs = isRefusal(error) ? null : retryWaitMs(error, number, random);
      onRetry(error, number, waitMs);
      if (waitMs !== null) await clock.sleep(waitMs, signal);
    }
  }
}

import { HttpStatusError, TimeoutError, UnexpectedShapeError } from "../../base/errors.ts";
import type { Answer } from "../../base/metrics/labels.ts";

/** How a request ended that failed with this error, as the meter names it. */
export function answerOf(error: unknown): Answer {
  if (error instanceof HttpStatusError) return error.status;
  if (error instanceof TimeoutError) return "timeout";
  return error instanceof UnexpectedShapeError ? "shape" : "network";
}

import { isRecoveryConflict } from "../db/recovery-conflict.ts";
import { isPassing, sqlstateOf } from "../db/store-errors.ts";
import { StoreError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { NotReadyError } from "../protocol/refusal.ts";
import { errorReply } from "./error-reply.ts";

const RETRY_AFTER = { "retry-after": "10" };
const SOON = { "retry-after": "1" };
/** A first walk takes minutes or hours. */
const LATER = { "retry-after": "60" };
/** A statement that Postgres cancelled, here by `statement_timeout`. */
const QUERY_CANCELED = "57014";
/**
 * The classes of SQLSTATE that a bug of ours causes: features, data, constraints, syntax and names. 42501 is a
 * missing right, which an operator can grant.
 */
const BUGS = /^(?:0A|22|23|42(?!501))/;

/**
 * The reply for a request of the interface that failed. 503 with `Retry-After` when a list was never read to
 * its end, or the database does not answer, or not in time; else 500. The reply has a fixed sentence, and the log has the error.
 */
export function failureReply(error: unknown, path: string, log: Logger): Response {
  if (error instanceof NotReadyError) return errorReply(503, `${error.message}. Try again later.`, LATER);
  const sqlstate = sqlstateOf(error);
  if (sqlstate === QUERY_CANCELED) {
    log.warn({ path, sqlstate }, "a request took the database too long");
    return errorReply(503, "The answer took too long. Ask for less, or try again later.", RETRY_AFTER);
  }
  if (isRecoveryConflict(error)) {
    log.warn({ path, sqlstate }, "the replica cancelled a query twice to replay changes");
    return errorReply(503, "The database had to catch up with its primary. Try again.", SOON);
  }
  const isDown = error instanceof StoreError && !BUGS.test(sqlstate ?? "");
  if (isDown || isPassing(error)) {
    log.warn({ path, sqlstate, error: String(error) }, "a request could not be answered");
    return errorReply(503, "The database does not answer. Try again later.", RETRY_AFTER);
  }
  log.error({ err: error, path }, "a request failed");
  return errorReply(500, "docmirror has a fault. Its log has the details.");
}

/** The reply for a request that was given up, and its line in the log. */
export function lateReply(path: string, afterMs: number, log: Logger): Response {
  log.warn({ path, after_ms: afterMs }, "a request was given up");
  return errorReply(503, "The answer took too long. Try again later.", RETRY_AFTER);
}

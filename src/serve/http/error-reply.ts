import { StoreError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { BusyError } from "../../page/cache/gate.ts";
import { ReaderGoneError } from "../../page/cache/single-flight.ts";
import { isPassing, isRecoveryConflict, sqlstateOf } from "../../store/connection/store-errors.ts";
import { NotReadyError } from "../protocol/catalog.ts";

/** A reply that says in one sentence why there is no other: `{"error": sentence}`. */
export function errorReply(status: number, sentence: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error: sentence }, { status, headers: { "cache-control": "no-store", ...headers } });
}

/** A statement that Postgres cancelled, here by `statement_timeout`. */
const QUERY_CANCELED = "57014";
/** An operator can grant it. */
const LACKING_RIGHT = "42501";
/** The classes of SQLSTATE that a bug of ours causes: features, data, constraints, syntax and names. */
const BUGS = /^(?:0A|22|23|42)/;

/**
 * Why a request failed: 503 with `Retry-After` where waiting or an operator helps, else 500. The sentence has fixed words,
 * without details of the server.
 */
export function explainReplyFailure(error: unknown) {
  // A first walk takes minutes or hours.
  if (error instanceof NotReadyError) return refusal(`${error.message}. Try again later.`, 60);
  if (error instanceof BusyError)
    return refusal("Too many large replies wait. Ask for fewer records at once, or try again later.");
  if (error instanceof ReaderGoneError) return refusal("Nobody reads this reply.", 1);
  const sqlstate = sqlstateOf(error);
  if (sqlstate === QUERY_CANCELED)
    return refusal("The answer took too long. Ask for less, or try again later.");
  if (sqlstate === LACKING_RIGHT)
    return refusal("The role of this server lacks a right in the database. Its log has the details.");
  if (isRecoveryConflict(error))
    return refusal("The database had to catch up with its primary. Try again.", 1);
  const isDown = error instanceof StoreError && !BUGS.test(sqlstate ?? "");
  if (isDown || isPassing(error)) return refusal("The database does not answer. Try again later.");
  return { status: 500, sentence: "docmirror has a fault. Its log has the details.", headers: {} };
}

function refusal(sentence: string, retryAfterS = 10) {
  return { status: 503, sentence, headers: { "retry-after": String(retryAfterS) } };
}

/** The reply for a request of the interface that failed. It has a fixed sentence, and the log has the error. */
export function failureReply(error: unknown, path: string, log: Logger): Response {
  const { status, sentence, headers } = explainReplyFailure(error);
  const sqlstate = sqlstateOf(error);
  if (status === 500) log.error({ err: error, path }, "a request failed");
  else if (sqlstate === QUERY_CANCELED) log.warn({ path, sqlstate }, "a request took the database too long");
  // A request before the first sync is no trouble, and neither is a reader who left.
  else if (!(error instanceof NotReadyError || error instanceof ReaderGoneError))
    log.warn({ path, reason: sentence, sqlstate, error: String(error) }, "a request could not be answered");
  return errorReply(status, sentence, headers);
}

/** The reply for a request that was given up, and its line in the log. */
export function lateReply(path: string, afterMs: number, log: Logger): Response {
  log.warn({ path, after_ms: afterMs }, "a request was given up");
  const { status, sentence, headers } = refusal("The answer took too long. Try again later.");
  return errorReply(status, sentence, headers);
}

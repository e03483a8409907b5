/**
 * The fate of a request that failed, as a table: the first row that applies counts, and nothing else judges a status or
 * a class of error. `docs/internals/service.md` shows it, and a test keeps them equal.
 */
import {
  type HttpStatusError,
  LastingNetworkError,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  UpstreamError,
  WrongAddressError,
} from "../../base/errors.ts";
import { BodyTooLargeError } from "./body.ts";

export interface Fate {
  /** The failures, in words. */
  readonly of: string;
  applies(failure: Failure): boolean;
  /** The most tries after the first one; the settings may allow fewer. */
  readonly again: number;
  /** All requests to the host wait for the next try. @default this one alone */
  readonly holdsAll?: true;
  /**
   * `pace`: requests come too fast. `service`: it cannot answer for now, so another request would fail too, unless its root
   * still answers. `page`: a smaller one may succeed. `record`: there is none. `reader`: we may not read this. `address`:
   * the base URL is wrong. `reply`: this reply alone.
   */
  readonly about: "pace" | "service" | "page" | "record" | "reader" | "address" | "reply";
}

/** An error of upstream, or what the head of a reply says. */
interface Failure {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** They say that there is no such record or page. */
export const GONE = [404, 410] as const;
const AS_SET = Number.POSITIVE_INFINITY;
/** A proxy's error page with status 200, or a broken head, may be gone soon. A server with another interface stays wrong. */
const TWICE = 2;
const NEVER = 0;

const answered =
  (...statuses: number[]) =>
  ({ status = 0 }: Failure) =>
    statuses.includes(status);
const answeredFrom =
  (least: number) =>
  ({ status = 0 }: Failure) =>
    status >= least;
const isA = (kind: abstract new (...given: never[]) => Error) => (failure: Failure) =>
  failure instanceof kind;
const isThrottled = (failure: Failure) => answered(403)(failure) && failure.retryAfterMs !== undefined;
const isNoHttp = (failure: Failure) => isA(NetworkError)(failure) && isBrokenHead(failure.cause);
const isTooLong = ({ cause }: Failure) => cause instanceof BodyTooLargeError;

export const FATES: readonly Fate[] = [
  // Some have a status too, so they come first.
  {
    of: "a redirect not followed; the wrong scheme",
    applies: isA(WrongAddressError),
    again: NEVER,
    about: "address",
  },
  { of: "429", applies: answered(429), again: AS_SET, holdsAll: true, about: "pace" },
  { of: "403 with `Retry-After`", applies: isThrottled, again: AS_SET, holdsAll: true, about: "pace" },
  { of: "503", applies: answered(503), again: AS_SET, holdsAll: true, about: "service" },
  { of: "502, 504 and above", applies: answeredFrom(502), again: AS_SET, about: "service" },
  { of: "500", applies: answered(500), again: AS_SET, about: "page" },
  { of: "400", applies: answered(400), again: NEVER, about: "page" },
  { of: "404, 410", applies: answered(...GONE), again: NEVER, about: "record" },
  { of: "401, 403, 407", applies: answered(401, 403, 407), again: NEVER, about: "reader" },
  { of: "408, 425, 501", applies: answered(408, 425, 501), again: AS_SET, about: "reply" },
  { of: "any other status", applies: answeredFrom(1), again: NEVER, about: "reply" },
  { of: "no whole reply within the time-out", applies: isA(TimeoutError), again: AS_SET, about: "service" },
  {
    of: "no TLS; a long head; a proxy that refuses",
    applies: isA(LastingNetworkError),
    again: NEVER,
    about: "service",
  },
  { of: "no head of HTTP", applies: isNoHttp, again: TWICE, about: "service" },
  { of: "any other connection that fails", applies: isA(NetworkError), again: AS_SET, about: "service" },
  { of: "a body that is too long", applies: isTooLong, again: NEVER, about: "page" },
  { of: "a body of another form", applies: isA(UnexpectedShapeError), again: TWICE, about: "reply" },
];

/** Bytes that are no head of HTTP, by the error of undici. They may be the rest of an earlier reply, so a few tries help. */
export const isBrokenHead = (reason: unknown) => reason instanceof Error && reason.name === "HTTPParserError";

export function fateOfStatus(failure: Failure): Fate | undefined {
  return FATES.find(({ applies }) => applies(failure));
}

/** Undefined for what is no failure of upstream, such as a stop or a bug. */
export function fateOf(error: unknown): Fate | undefined {
  return error instanceof UpstreamError ? fateOfStatus(error) : undefined;
}

/** The service says that there is no such record or page. */
export const isGone = (error: unknown): error is HttpStatusError => fateOf(error)?.about === "record";

/** A reply that asks all requests to wait, not only this one. The gate to the host makes them wait. */
export const isRefusal = (error: unknown): error is HttpStatusError => fateOf(error)?.holdsAll === true;

/** Upstream cannot be reached, or refuses for now, so that another page would fail too. */
export function isUpstreamLost(error: unknown): boolean {
  const about = fateOf(error)?.about;
  return about === "pace" || about === "service";
}

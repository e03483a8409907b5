import { errors } from "undici";
import {
  MirrorError,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
  WrongAddressError,
} from "../errors.ts";
import { BodyTooLargeError, UndecodableBodyError } from "./body.ts";
import { SCHEME_HINT, tellWrongScheme } from "./wrong-scheme.ts";

/** A link of upstream's may be as long as its reply. */
const SHOWN_LENGTH = 500;

/** A URL as messages show it, without the credentials that the base URL may carry, and cut where it is endless. */
export function showUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`.slice(0, SHOWN_LENGTH);
}

/** The first words of a body that is no use, on one line and without control characters, to tell what answered. */
export function excerpt(body: Buffer): string {
  const text = body
    .subarray(0, 400)
    .toString("utf8")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return text === "" ? " with an empty body" : `: ${text.slice(0, 120)}`;
}

/** What a request failed with, as the error that tells the caller what to do; `timeoutMs` where our own time limit ended it. */
export function toUpstreamError(
  error: unknown,
  url: URL,
  timeoutMs: number | null,
): UpstreamError | MirrorError {
  if (error instanceof MirrorError) return error;
  const facts = { url: showUrl(url), cause: error };
  if (timeoutMs !== null)
    return new TimeoutError(`GET ${showUrl(url)} was not answered within ${timeoutMs} ms`, facts);
  if (error instanceof BodyTooLargeError) {
    const hint = "raise DOCMIRROR_MAX_BODY_MB or lower DOCMIRROR_PAGE_SIZE";
    return new UnexpectedShapeError(`GET ${showUrl(url)}: ${error.message}`, { ...facts, hint });
  }
  if (error instanceof UndecodableBodyError) {
    return new UnexpectedShapeError(
      `GET ${showUrl(url)} answered with an unusable body: ${error.message}`,
      facts,
    );
  }
  const reason = error instanceof AggregateError ? error.errors[0] : error;
  const scheme = tellWrongScheme(reason, url);
  if (scheme !== null) return new WrongAddressError(scheme, { ...facts, hint: SCHEME_HINT });
  const text = reason instanceof Error ? reason.message : String(reason);
  if (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  ) {
    return new TimeoutError(`GET ${showUrl(url)} timed out: ${text}`, facts);
  }
  return new NetworkError(`GET ${showUrl(url)} got no answer: ${text}`, {
    ...facts,
    hint: isUntrusted(reason) ? TRUST_HINT : isWordless(reason, url) ? WORDLESS_HINT : HINT,
  });
}

const HINT = "check DOCMIRROR_BASE_URL and that the service is up";
const TRUST_HINT =
  "the service's certificate is not trusted; if an authority of your own signed it, name its file in NODE_EXTRA_CA_CERTS";
const WORDLESS_HINT = `if the service speaks TLS at this port, use https://; else ${HINT}`;

/** Whether a connection failed since nobody vouches for who answered, by OpenSSL's and Node's codes. */
export function isUntrusted(reason: unknown): boolean {
  const code = (reason as { code?: unknown } | null)?.code;
  return typeof code === "string" && /CERT|VERIFY/.test(code);
}

/**
 * Whether the connection was closed before anything was said, as many servers do that expect TLS and get
 * plain HTTP.
 */
function isWordless(reason: unknown, url: URL): boolean {
  return url.protocol === "http:" && reason instanceof errors.SocketError && reason.socket?.bytesRead === 0;
}

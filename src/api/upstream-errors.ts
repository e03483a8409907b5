import { errors } from "undici";
import {
  HttpStatusError,
  MirrorError,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
} from "../errors.ts";
import { BodyTooLargeError, UndecodableBodyError } from "./body.ts";

/** A URL as messages show it, without the credentials that the base URL may carry. */
export function showUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`;
}

/** Throws that a redirect is not followed; `answer` is what it was, as in `302 to '/elsewhere'`. */
export function refuseRedirect(url: URL, answer: string): never {
  throw new UnexpectedShapeError(`GET ${showUrl(url)} answered ${answer}, which is not followed`, {
    url: showUrl(url),
    hint: "only redirects within the service itself are followed, and only three in a row",
  });
}

/** That the service answered with a status other than 2xx. Its body, readable or not, only helps to tell what happened. */
export function statusError(
  url: URL,
  status: number,
  body: Buffer,
  facts: Pick<HttpStatusError, "retryAfterMs" | "askedAt" | "observedAt">,
): HttpStatusError {
  return new HttpStatusError(`GET ${showUrl(url)} answered ${status}${excerpt(body)}`, {
    url: showUrl(url),
    status,
    hint: hintFor(status),
    ...facts,
  });
}

function hintFor(status: number): string {
  if (status === 401 || status === 403) return "give user and password within DOCMIRROR_BASE_URL";
  if (status === 429) return "the service limits requests: try again later, or lower DOCMIRROR_RATE";
  if (status >= 500) return "the service is in trouble, or this one page of it: try again later";
  return "the service refuses this request and will again; see what it says";
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
    hint: isUntrusted(reason) ? TRUST_HINT : "check DOCMIRROR_BASE_URL and that the service is up",
  });
}

const TRUST_HINT =
  "the service's certificate is not trusted; if an authority of your own signed it, name its file in NODE_EXTRA_CA_CERTS";

/** Whether a connection failed since nobody vouches for who answered, by OpenSSL's and Node's codes. */
export function isUntrusted(reason: unknown): boolean {
  const code = (reason as { code?: unknown } | null)?.code;
  return typeof code === "string" && /CERT|VERIFY/.test(code);
}

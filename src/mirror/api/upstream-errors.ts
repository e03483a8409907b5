import { maskUrl } from "../../base/config/addresses.ts";
import { type ProxyRoute, showProxy } from "../../base/config/proxies.ts";
import { SERVICE_SETTINGS } from "../../base/config/service-settings.ts";
import {
  HttpStatusError,
  MirrorError,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
  WrongAddressError,
} from "../../base/errors.ts";
import type { Answer } from "../../base/metrics/labels.ts";
import { BodyTooLargeError, UndecodableBodyError } from "./body.ts";

/** How messages name what the reader may change: a setting of the command, or an option of the typed client. */
export type NameOf = (key: keyof typeof SERVICE_SETTINGS) => string;

/** What messages say differently to those who type commands and to those who write programs. */
export interface Wording {
  nameOf: NameOf;
  /** What to do once the host is lost. */
  whenLost: string;
}

export const COMMAND_WORDING: Wording = {
  nameOf: (key) => SERVICE_SETTINGS[key].name,
  whenLost: "try again later: what was read is stored, and the next run continues from there",
};

/** Known by their names, because undici is loaded with the first request alone (`connections.ts`). */
const TIMEOUTS = ["ConnectTimeoutError", "HeadersTimeoutError", "BodyTimeoutError"];
/** A link from upstream may be as long as a whole reply. */
const SHOWN_LENGTH = 500;

/** A URL for messages: without the login of the base URL, and cut when it is too long. */
export function showUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`.slice(0, SHOWN_LENGTH);
}

/** The first words of an unusable body, on one line and without control characters, to show what answered. */
export function excerpt(body: Buffer, hide: (text: string) => string): string {
  const text = hide(body.subarray(0, 4000).toString("utf8"))
    .slice(0, 400)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return text === "" ? " with an empty body" : `: ${text.slice(0, 120)}`;
}

/** Errors keep no more of a body, in bytes. */
const KEPT_BODY = 64 * 1024;

/** A body as errors keep it: the value that its JSON has, or the begin of its text. */
export function shownBody(body: Buffer, hide: (text: string) => string): unknown {
  const text = hide(body.subarray(0, KEPT_BODY).toString("utf8"));
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The error that callers act on. `timeoutMs` is set when our own time limit ended the request. */
export function toUpstreamError(
  error: unknown,
  url: URL,
  { timeoutMs, nameOf }: { timeoutMs: number | null; nameOf: NameOf },
): UpstreamError | MirrorError {
  if (error instanceof MirrorError) return error;
  const facts = { url: showUrl(url), cause: error };
  if (timeoutMs !== null)
    return new TimeoutError(`GET ${showUrl(url)} was not answered within ${timeoutMs} ms`, facts);
  if (error instanceof BodyTooLargeError) {
    const hint = `raise ${nameOf("maxBodyBytes")} or lower ${nameOf("pageSize")}`;
    return new UnexpectedShapeError(`GET ${showUrl(url)}: ${error.message}`, { ...facts, hint });
  }
  if (error instanceof UndecodableBodyError) {
    return new UnexpectedShapeError(
      `GET ${showUrl(url)} answered with an unusable body: ${error.message}`,
      facts,
    );
  }
  const reason = error instanceof AggregateError ? error.errors[0] : error;
  const scheme = describeWrongScheme(reason, url);
  if (scheme !== null) return new WrongAddressError(scheme, { ...facts, hint: schemeHint(nameOf) });
  const text = reason instanceof Error ? reason.message : String(reason);
  const check = `check ${nameOf("baseUrl")} and that the service is up`;
  if (error instanceof Error && TIMEOUTS.includes(error.name)) {
    return new TimeoutError(`GET ${showUrl(url)} timed out: ${text}`, facts);
  }
  return new NetworkError(`GET ${showUrl(url)} got no answer: ${text}`, {
    ...facts,
    hint: isUntrusted(reason)
      ? TRUST_HINT
      : isClosedWithoutAnswer(reason, url)
        ? `${TLS_HINT}${check}`
        : check,
  });
}

const TRUST_HINT =
  "the service's certificate is not trusted; if your own certificate authority signed it, set its file in NODE_EXTRA_CA_CERTS";
const TLS_HINT = "if the service speaks TLS at this port, use https://; otherwise ";

/** Whether a connection failed because its certificate is not trusted, by the codes of OpenSSL and Node. */
function isUntrusted(reason: unknown): boolean {
  const code = (reason as { code?: unknown } | null)?.code;
  return typeof code === "string" && /CERT|VERIFY/.test(code);
}

/** Whether the server closed the connection without a byte. Many servers that expect TLS do so for plain HTTP. */
function isClosedWithoutAnswer(reason: unknown, url: URL): boolean {
  const { name, socket } = (reason ?? {}) as { name?: unknown; socket?: { bytesRead?: number } };
  return url.protocol === "http:" && name === "SocketError" && socket?.bytesRead === 0;
}

/** How a request ended that failed with this error, as the meter names it. */
export function answerOf(error: unknown): Answer {
  if (error instanceof HttpStatusError) return error.status;
  if (error instanceof TimeoutError) return "timeout";
  return error instanceof UnexpectedShapeError ? "shape" : "network";
}

/** The codes of OpenSSL for a server that answers TLS in plain text. */
const NO_TLS = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;
/** How nginx, Apache and Go answer plain HTTP at a port of TLS, with status 400. */
const NO_PLAIN_HTTP =
  /plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL|HTTP request to an HTTPS server/i;

const schemeHint = (nameOf: NameOf) => `correct the scheme in ${nameOf("baseUrl")}`;

/** The message for a connection that failed because the base URL has the wrong scheme; otherwise null. */
function describeWrongScheme(reason: unknown, url: URL): string | null {
  if (url.protocol === "https:") {
    const { code } = (reason ?? {}) as { code?: unknown };
    const isPlain = typeof code === "string" && NO_TLS.test(code);
    return isPlain ? `The service speaks plain HTTP at this port; use http:// (${url.origin})` : null;
  }
  if (!(reason instanceof Error && reason.name === "HTTPParserError")) return null;
  // A server that expects TLS may answer with a TLS alert: type 21, version 3. undici's types lack the field
  // with the data that it could not parse.
  const { data } = reason as { data?: string };
  return data?.startsWith("\u0015\u0003") ? tlsAt(url) : null;
}

/** The message for a reply that expects TLS; otherwise null. `words` is the beginning of the body. */
function describeTlsExpected(url: URL, status: number, words: string): string | null {
  return url.protocol === "http:" && status === 400 && NO_PLAIN_HTTP.test(words) ? tlsAt(url) : null;
}

function tlsAt(url: URL): string {
  return `The service speaks TLS at this port; use https:// (${url.origin})`;
}

interface StatusFacts {
  status: number;
  /** What the body says, as `excerpt` gives it. */
  words: string;
  retryAfterMs: number | undefined;
  /** Where the login of the request came from: the user and password of the base URL, or a header that was given. */
  login: "baseUrl" | "header" | null;
  nameOf: NameOf;
  /** When the request was sent. For a reply from a cache, when the cache got it. */
  askedAt: Date;
  /** When the reply arrived. */
  observedAt: Date;
}

/** The error for a status other than 2xx. */
export function statusError(url: URL, facts: StatusFacts): HttpStatusError | WrongAddressError {
  const { status, words, retryAfterMs, askedAt, observedAt, nameOf } = facts;
  const tlsExpected = describeTlsExpected(url, status, words);
  if (tlsExpected !== null)
    return new WrongAddressError(tlsExpected, { url: showUrl(url), hint: schemeHint(nameOf) });
  const answer = `GET ${showUrl(url)} answered ${status}`;
  const refusal = explainRefusal(facts);
  const [message, hint] =
    refusal === null
      ? [`${answer}${words}`, hintFor(status, nameOf)]
      : [`${refusal[0]} (${answer}${words})`, refusal[1]];
  return new HttpStatusError(message, { url: showUrl(url), status, hint, retryAfterMs, askedAt, observedAt });
}

/** Explains a refusal for lack of rights and what to do. Null for other statuses. */
function explainRefusal({ status, login, nameOf }: StatusFacts): [sentence: string, hint: string] | null {
  if (status === 407) {
    return [
      "A proxy in front of the service requires a login (407)",
      "set user and password in the address of the proxy, as in HTTPS_PROXY=http://user:password@proxy:3128",
    ];
  }
  if (status !== 401 && status !== 403) return null;
  if (login === "header") {
    const [what, hint] =
      status === 401
        ? ["is refused", "correct it"]
        : ["gives no right to read this", "ask the operator of the service for the right to read"];
    return [`The login in the header authorization ${what} (${status})`, hint];
  }
  if (login === "baseUrl") {
    return status === 401
      ? [
          `The user or the password in ${nameOf("baseUrl")} is refused (401)`,
          "correct them; @ is written %40, : is %3A, / is %2F",
        ]
      : [
          `The user in ${nameOf("baseUrl")} may not read this (403)`,
          "ask the operator of the service for the right to read",
        ];
  }
  return [
    status === 401
      ? "The service requires a login (401); docmirror reads public interfaces only"
      : "The service refuses to answer (403); docmirror reads public interfaces only",
    `if a proxy in front of the service asks for the login, set user and password in ${nameOf("baseUrl")}`,
  ];
}

function hintFor(status: number, nameOf: NameOf): string {
  if (status === 429)
    return `the service limits requests: try again later, or lower ${nameOf("ratePerSecond")}`;
  if (status >= 500) return "the service has a fault, perhaps only on this page: try again later";
  return "the service will refuse this request again; the message says why";
}

const API_PATH = "/api/v1/";
/** Messages cut a longer Location: a server may send any text. */
const SHOWN_LOCATION = 200;

/** Throws for a redirect that is not followed. Names the base URL to set, if the `Location` shows it. */
export function refuseRedirect(url: URL, status: number, location: string, nameOf: NameOf): never {
  const shown = maskUrl(location).slice(0, SHOWN_LOCATION);
  const what = `GET ${showUrl(url)} answered ${status} to '${shown}', which is not followed`;
  const baseUrl = movedTo(url, location);
  if (baseUrl !== null) {
    throw new WrongAddressError(`It has moved to ${baseUrl}; set ${nameOf("baseUrl")} to that (${what})`, {
      url: showUrl(url),
      hint: "first check that this address belongs to the service",
    });
  }
  throw new WrongAddressError(what, {
    url: showUrl(url),
    hint: "only redirects within the service's API are followed; if this is a login: docmirror reads public interfaces only",
  });
}

/** One redirect led to the next, too often. `status` is that of the last one. */
export class RedirectsError extends WrongAddressError {
  override name = "RedirectsError";
  readonly status: number;

  constructor(url: URL, most: number, status: number) {
    const hint = "the service redirects in a circle: report it to the operator of the service";
    const shown = showUrl(url);
    super(`GET ${shown} answered with more than ${most} redirects, which is not followed`, {
      url: shown,
      hint,
    });
    this.status = status;
  }
}

/** The base URL of the same API at its new address, or null when the `Location` is not such an address. */
function movedTo(url: URL, location: string): string | null {
  if (location === "" || !URL.canParse(location, url.href)) return null;
  const place = new URL(location, url);
  if (place.protocol !== "http:" && place.protocol !== "https:") return null;
  const api = place.pathname.indexOf(API_PATH);
  if (api < 0 && place.pathname !== "/") return null;
  const prefix = place.pathname.slice(0, Math.max(0, api));
  const isHere = place.origin === url.origin && (api < 0 || url.pathname.startsWith(prefix + API_PATH));
  return isHere ? null : `${place.origin}${prefix}`.slice(0, SHOWN_LOCATION);
}

/** The proxy did not open a tunnel. `status` or `cause` says why. */
export class TunnelError extends Error {
  override name = "TunnelError";
  /** Null when it did not answer. */
  readonly status: number | null;

  constructor(status: number | null, cause?: unknown) {
    super("the proxy opened no tunnel", { cause });
    this.status = status;
  }
}

/** The proxy refuses for good: the login is not valid, or the target is not allowed. */
export class ProxyRefusedError extends NetworkError {
  override name = "ProxyRefusedError";
}

/** Codes of a failed connection. We only connect to the proxy, so it was the one that failed. */
const UNREACHABLE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/;
/** Statuses of a proxy that could not open the tunnel for now. */
const PASSING = [408, 425, 429];

/**
 * An error that names the proxy, when the proxy failed. Null when the service failed, or without a proxy.
 * `timeoutMs` is set when our own time limit ended the request; then it is not known which one failed.
 */
export function toProxyError(
  error: unknown,
  url: URL,
  { proxy, because }: ProxyRoute,
  timeoutMs: number | null,
): NetworkError | TimeoutError | null {
  if (proxy === null || !(error instanceof Error)) return null;
  const named = `the proxy ${showProxy(proxy)} (${because})`;
  const facts = { url: showUrl(url), cause: error };
  if (timeoutMs !== null) {
    const message = `GET ${showUrl(url)} was not answered within ${timeoutMs} ms, through ${named}`;
    return new TimeoutError(message, { ...facts, hint: "check that the proxy is up, and then the service" });
  }
  const way = `GET ${showUrl(url)}: ${named}`;
  const status = error instanceof TunnelError ? error.status : null;
  // undici reports the status of a forwarded request in this way.
  const isForwarded407 = error.name === "InvalidArgumentError" && error.message.includes("(407)");
  if (status === 407 || isForwarded407) {
    const hint = `set user and password in ${because}, as in http://user:password@host:port; write special characters in percent form (@ is %40)`;
    return new ProxyRefusedError(`${way} requires a valid login (407)`, { ...facts, hint });
  }
  if (status !== null) {
    // Never an HttpStatusError: a proxy's 404 says nothing about a record.
    const isFinal = status < 500 && !PASSING.includes(status);
    const hint = `ask the operator of the proxy to allow ${url.host}, or name that host in NO_PROXY to connect without the proxy`;
    const message = `${way} did not connect to ${url.host}: it answered ${status}`;
    return new (isFinal ? ProxyRefusedError : NetworkError)(message, { ...facts, hint });
  }
  const reason = reasonOf(error);
  const code = String((reason as { code?: unknown }).code);
  if (!(error instanceof TunnelError || UNREACHABLE.test(code))) return null;
  const hint = isUntrusted(reason)
    ? "the proxy's certificate is not trusted; if your own certificate authority signed it, set its file in NODE_EXTRA_CA_CERTS"
    : `check ${because} and that the proxy is up, or name the host in NO_PROXY to connect without the proxy`;
  const message = `${way} cannot be reached: ${reason.message}`;
  return new (/TIMEOUT/.test(code) ? TimeoutError : NetworkError)(message, { ...facts, hint });
}

function reasonOf(error: Error): Error {
  const inner =
    error instanceof TunnelError
      ? error.cause
      : error instanceof AggregateError
        ? (error.errors as unknown[])[0]
        : undefined;
  return inner instanceof Error ? reasonOf(inner) : error;
}

/**
 * The error that callers act on, for all that may go wrong with one request: what was asked, what came back, and what to do.
 * Errors of undici are known by their names, because undici is loaded with the first request alone (`transport.ts`).
 */
import { maxHeaderSize } from "node:http";
import { maskUrl } from "../../base/config/addresses.ts";
import { type ProxyRoute, showProxy } from "../../base/config/proxies.ts";
import { SERVICE_SETTINGS } from "../../base/config/service-settings.ts";
import {
  HttpStatusError,
  LastingNetworkError,
  MirrorError,
  messageOf,
  NetworkError,
  TimeoutError,
  TRUST_AUTHORITY,
  toMemoryError,
  UnexpectedShapeError,
  WrongAddressError,
} from "../../base/errors.ts";
import type { Answer } from "../../base/metrics/labels.ts";
import { ROOT_PATH } from "./api-url.ts";
import { BodyTooLargeError, UndecodableBodyError } from "./body.ts";
import { type Fate, fateOfStatus, isBrokenHead } from "./fates.ts";

/** Names for messages what the reader may change: a setting of the command, or an option of the typed client. */
export type NameOf = (key: keyof typeof SERVICE_SETTINGS) => string;

/** The words that differ between those who type commands and those who write programs. */
export interface Wording {
  nameOf: NameOf;
  /** The advice once the host is lost. */
  whenLost: string;
}

export const COMMAND_WORDING: Wording = {
  nameOf: (key) => SERVICE_SETTINGS[key].name,
  whenLost: "try again later: what was read is stored, and the next run continues from there",
};

/** A link from upstream may be as long as a whole reply, and a `Location` any text. */
const SHOWN_LENGTH = 500;
const SHOWN_LOCATION = 200;
const KEPT_BYTES = 64 * 1024;

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

/** A body as errors keep it: the value that its JSON has, or the begin of its text. */
export function shownBody(body: Buffer, hide: (text: string) => string): unknown {
  const text = hide(body.subarray(0, KEPT_BYTES).toString("utf8"));
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A failure as the meter names it. */
export function answerOf(error: unknown): Answer {
  if (error instanceof HttpStatusError) return error.status;
  if (error instanceof TimeoutError) return "timeout";
  return error instanceof UnexpectedShapeError ? "shape" : "network";
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

/** Codes of a failed connection. We only connect to the proxy, so it was the one that failed. */
const UNREACHABLE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/;

interface Way {
  /** Our own limit ended the request, so it is not known whether the proxy or the service failed. Else null. */
  timeoutMs: number | null;
  nameOf: NameOf;
  route: ProxyRoute;
}

/** Names the proxy where it failed, and else the service. */
export function toUpstreamError(thrown: unknown, url: URL, { timeoutMs, nameOf, route }: Way): MirrorError {
  const error = toMemoryError(thrown);
  if (error instanceof MirrorError) return error;
  const { proxy, because } = route;
  const asked = `GET ${showUrl(url)}`;
  const named = proxy && `the proxy ${showProxy(proxy)} (${because})`;
  const facts = { url: showUrl(url), cause: error };
  if (timeoutMs !== null) {
    const message = `${asked} was not answered within ${timeoutMs} ms`;
    if (named === null) return new TimeoutError(message, facts);
    const hint = "check that the proxy is up, and then the service";
    return new TimeoutError(`${message}, through ${named}`, { ...facts, hint });
  }
  if (error instanceof BodyTooLargeError) {
    const hint = `raise ${nameOf("maxBodyBytes")} or lower ${nameOf("pageSize")}`;
    return new UnexpectedShapeError(`${asked}: ${error.message}`, { ...facts, hint });
  }
  if (error instanceof UndecodableBodyError)
    return new UnexpectedShapeError(`${asked} answered with an unusable body: ${error.message}`, facts);
  const refusal = named === null ? null : refusalOfProxy(error);
  if (refusal === 407) {
    const hint = `set user and password in ${because}, as in http://user:password@host:port; write special characters in percent form (@ is %40)`;
    return new LastingNetworkError(`${asked}: ${named} requires a valid login (407)`, { ...facts, hint });
  }
  if (refusal !== null) {
    // Never an HttpStatusError: a proxy's 404 says nothing about a record.
    const kind = fateOfStatus({ status: refusal })?.again === 0 ? LastingNetworkError : NetworkError;
    const hint = `ask the operator of the proxy to allow ${url.host}, or name that host in NO_PROXY to connect without the proxy`;
    return new kind(`${asked}: ${named} did not connect to ${url.host}: it answered ${refusal}`, {
      ...facts,
      hint,
    });
  }
  const [reason] = reasonsOf(error);
  const code = String((reason as { code?: unknown } | null)?.code);
  const isProxy = named !== null && (error instanceof TunnelError || UNREACHABLE.test(code));
  const scheme = isProxy ? null : describeWrongScheme(reason, code, url);
  if (scheme !== null) return wrongScheme(scheme, facts, nameOf);
  const lasting = isProxy
    ? lastingFault(code, "proxy", because)
    : lastingFault(code, "service", nameOf("baseUrl"));
  const hint = isProxy
    ? `check ${because} and that the proxy is up, or name the host in NO_PROXY to connect without the proxy`
    : hintForSilence(reason, url, nameOf);
  const kind =
    lasting !== null ? LastingNetworkError : code === "UND_ERR_CONNECT_TIMEOUT" ? TimeoutError : NetworkError;
  const what = isProxy ? `: ${named} cannot be reached` : " got no answer";
  const text = textOf(error).slice(0, SHOWN_LENGTH);
  return new kind(`${asked}${what}: ${text}`, { ...facts, hint: lasting ?? hint });
}

/** The status with which our proxy refused a request or a tunnel, or null. */
function refusalOfProxy(error: unknown): number | null {
  if (error instanceof TunnelError) return error.status;
  // undici reports the status of a forwarded request in this way.
  const { name, message } = (error ?? {}) as Partial<Error>;
  return name === "InvalidArgumentError" && message?.includes("(407)") ? 407 : null;
}

/** The failures that a failure stands for: a connection may fail at several addresses. */
function reasonsOf(error: unknown): readonly unknown[] {
  if (error instanceof AggregateError) return error.errors.flatMap(reasonsOf);
  return error instanceof TunnelError && error.cause instanceof Error ? reasonsOf(error.cause) : [error];
}

const textOf = (error: unknown) => reasonsOf(error).map(wordsOf).join("; ");

/** OpenSSL's own message begins with numbers of its build; `reason` is the words in it. */
function wordsOf(error: unknown): string {
  const { code, reason } = (error ?? {}) as { code?: unknown; reason?: unknown };
  if (typeof reason === "string" && /^ERR_SSL_/.test(String(code))) return `TLS failed: ${reason}`;
  return messageOf(error);
}

function hintForSilence(reason: unknown, url: URL, nameOf: NameOf): string {
  if (isBrokenHead(reason))
    return "the answer is no valid HTTP: perhaps another program listens at this port, or a proxy in front of the service spoils it";
  const check = `check ${nameOf("baseUrl")} and that the service is up`;
  if (!isClosedWithoutAnswer(reason, url)) return check;
  const other =
    url.protocol === "http:" ? "TLS at this port, use https" : "plain HTTP at this port, use http";
  return `if the service speaks ${other}://; otherwise ${check}`;
}

/** The codes of OpenSSL for a server that answers TLS in plain text. `dispatcher.ts` uses the first one too. */
const NO_TLS = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;

const OLD_TLS = 'NODE_OPTIONS="--tls-min-v1.0 --tls-cipher-list=DEFAULT@SECLEVEL=0"';

/**
 * The codes of Node, OpenSSL and undici for faults that last, and what to do. The first that matches counts. `whose` is
 * "service" or "proxy", `setting` has its address.
 */
const LASTING: readonly [code: RegExp, hint: (whose: string, setting: string) => string][] = [
  [NO_TLS, (whose, setting) => `the ${whose} speaks plain HTTP at this port: write http:// in ${setting}`],
  [
    /^CERT_HAS_EXPIRED$/,
    (whose) =>
      `the ${whose}'s certificate has expired, so its operator must renew it; or this machine's clock is wrong`,
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    (whose) => `the ${whose}'s certificate begins later: set this machine's clock by NTP`,
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$|UNRECOGNIZED_NAME$/,
    (whose, setting) => `the ${whose}'s certificate is for another name: correct the host in ${setting}`,
  ],
  [
    /^ERR_SSL_.*ALERT.*CERT/,
    (whose) => `the ${whose} asks for a certificate of its clients, and docmirror has none to send`,
  ],
  [/CERT|VERIFY/, (whose) => `the ${whose}'s certificate is not trusted; ${TRUST_AUTHORITY}`],
  [
    /^ERR_SSL_.*(PROTOCOL|VERSION|HANDSHAKE_FAILURE|LEGACY|CIPHER|TOO_SMALL|TOO_WEAK|SIGNATURE|INSUFFICIENT_SECURITY)/,
    (whose) =>
      `the ${whose} has no TLS that is new enough: ask its operator for TLS 1.2; until then set ${OLD_TLS}`,
  ],
  [
    /^UND_ERR_HEADERS_OVERFLOW$/,
    (whose) =>
      `the head of the ${whose}'s reply is longer than ${maxHeaderSize} bytes: set NODE_OPTIONS=--max-http-header-size=${4 * maxHeaderSize}`,
  ],
];

function lastingFault(code: string, whose: string, setting: string): string | null {
  return LASTING.find(([form]) => form.test(code))?.[1](whose, setting) ?? null;
}

/** The server closed the connection without a byte. Many servers do so for the scheme that they do not expect. */
function isClosedWithoutAnswer(reason: unknown, url: URL): boolean {
  const { name, socket, message } = (reason ?? {}) as Error & { socket?: { bytesRead?: number } };
  if (url.protocol === "https:") return /before secure TLS connection/.test(message);
  return name === "SocketError" && socket?.bytesRead === 0;
}

/** The answers of nginx, Apache and Go to plain HTTP at a port of TLS, with status 400. */
const NO_PLAIN_HTTP =
  /plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL|HTTP request to an HTTPS server/i;

function describeWrongScheme(reason: unknown, code: string, url: URL): string | null {
  if (url.protocol === "https:")
    return NO_TLS.test(code)
      ? `The service speaks plain HTTP at this port; use http:// (${url.origin})`
      : null;
  const { data } = (reason ?? {}) as { data?: unknown };
  // A server that expects TLS may answer with a TLS alert: type 21, version 3. `data` is what undici could not parse.
  const isAlert = isBrokenHead(reason) && typeof data === "string" && data.startsWith("\u0015\u0003");
  return isAlert ? tlsAt(url) : null;
}

const tlsAt = (url: URL) => `The service speaks TLS at this port; use https:// (${url.origin})`;

function wrongScheme(message: string, facts: { url: string; cause?: unknown }, nameOf: NameOf) {
  return new WrongAddressError(message, { ...facts, hint: `correct the scheme in ${nameOf("baseUrl")}` });
}

interface StatusFacts {
  status: number;
  /** The `excerpt` of the body. */
  words: string;
  retryAfterMs: number | undefined;
  /** The source of the login of the request: the user and password of the base URL, or a header that was given. */
  login: "baseUrl" | "header" | null;
  nameOf: NameOf;
  /** The moments at which the request was sent (for a reply from a cache: at which that got it) and the reply arrived. */
  askedAt: Date;
  observedAt: Date;
}

export function statusError(url: URL, facts: StatusFacts): HttpStatusError | WrongAddressError {
  const { status, words, retryAfterMs, askedAt, observedAt, nameOf } = facts;
  if (url.protocol === "http:" && status === 400 && NO_PLAIN_HTTP.test(words))
    return wrongScheme(tlsAt(url), { url: showUrl(url) }, nameOf);
  const answer = `GET ${showUrl(url)} answered ${status}${words}`;
  const fate = fateOfStatus(facts);
  const [sentence, hint] = fate?.about === "reader" ? explainRefusal(facts) : [null, hintFor(fate, nameOf)];
  const message = sentence === null ? answer : `${sentence} (${answer})`;
  return new HttpStatusError(message, { url: showUrl(url), status, hint, retryAfterMs, askedAt, observedAt });
}

/** Explains a refusal for lack of rights and what to do. */
function explainRefusal({ status, login, nameOf }: StatusFacts): [sentence: string, hint: string] {
  if (status === 407)
    return [
      "A proxy in front of the service requires a login (407)",
      "set user and password in the address of the proxy, as in HTTPS_PROXY=http://user:password@proxy:3128",
    ];
  const askOperator = "ask the operator of the service for the right to read";
  if (login === "header")
    return status === 401
      ? ["The login in the header authorization is refused (401)", "correct it"]
      : ["The login in the header authorization gives no right to read this (403)", askOperator];
  if (login === "baseUrl")
    return status === 401
      ? [
          `The user or the password in ${nameOf("baseUrl")} is refused (401)`,
          "correct them; @ is written %40, : is %3A, / is %2F",
        ]
      : [`The user in ${nameOf("baseUrl")} may not read this (403)`, askOperator];
  const forLogin = `if a proxy in front of the service asks for the login, set user and password in ${nameOf("baseUrl")}`;
  const manners = `set ${nameOf("contact")} and lower ${nameOf("ratePerSecond")}`;
  const forManners = `many services refuse who gives no contact, or asks four times a second or more: ${manners}`;
  return [
    `The service ${status === 401 ? "requires a login" : "refuses to answer"} (${status}); docmirror reads public interfaces only`,
    status === 401 ? forLogin : `${forManners}; ${forLogin}`,
  ];
}

function hintFor(fate: Fate | undefined, nameOf: NameOf): string {
  if (fate?.about === "pace")
    return `the service limits requests: try again later, or lower ${nameOf("ratePerSecond")}`;
  return fate?.again
    ? "the service has a fault, perhaps only on this page: try again later"
    : "the service will refuse this request again; the message says why";
}

export interface Redirect {
  from: URL;
  status: number;
  /** As it was sent, or "". */
  location: string;
  /** Null where `location` is no address. */
  target: URL | null;
  /** Hides our own login. */
  hide(text: string): string;
}

/** A redirect that is not followed. */
export class RedirectError extends WrongAddressError {
  /** The message without the request, for a list of requests. */
  readonly reason: string;

  constructor(url: URL, what: string, hint?: string) {
    const reason = `${what}, which is not followed`;
    super(`GET ${showUrl(url)} ${reason}`, { url: showUrl(url), hint });
    this.reason = reason;
  }
}

export function tooManyRedirects(url: URL, most: number, setsCookie: boolean): RedirectError {
  const hint = setsCookie
    ? "the service sets a cookie and redirects until it comes back: ask its operator to answer docmirror, which sends none, without it"
    : "the service redirects in a circle: report it to the operator of the service";
  return new RedirectError(url, `answered with more than ${most} redirects`, hint);
}

/** The error for a redirect out of the API. Names the base URL to set, if the `Location` shows it. */
export function wrongRedirect(
  { from, status, location, target, hide }: Redirect,
  nameOf: NameOf,
): WrongAddressError {
  const shown = hide(maskUrl(location)).slice(0, SHOWN_LOCATION);
  const hint =
    "only redirects within the service's API are followed; if this is a login: docmirror reads public interfaces only";
  const refused = new RedirectError(from, `answered ${status} to '${shown}'`, hint);
  const baseUrl = target && movedTo(from, target);
  if (!baseUrl) return refused;
  const message = `It has moved to ${baseUrl}; set ${nameOf("baseUrl")} to that (${refused.message})`;
  return new WrongAddressError(message, {
    url: refused.url,
    hint: "first check that this address belongs to the service",
  });
}

/** The base URL of the same API at its new address, or null when the target is not such an address. */
function movedTo(from: URL, target: URL): string | null {
  if (target.protocol !== "http:" && target.protocol !== "https:") return null;
  const api = target.pathname.indexOf(ROOT_PATH);
  if (api < 0 && target.pathname !== "/") return null;
  const prefix = target.pathname.slice(0, Math.max(0, api));
  const isHere = target.origin === from.origin && (api < 0 || from.pathname.startsWith(prefix + ROOT_PATH));
  return isHere ? null : `${target.origin}${prefix}`.slice(0, SHOWN_LOCATION);
}

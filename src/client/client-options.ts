import { systemClock } from "../base/clock.ts";
import { maskUrl } from "../base/config/addresses.ts";
import { environmentProxies, findProxyRoute } from "../base/config/proxies.ts";
import { SERVICE_SETTINGS } from "../base/config/service-settings.ts";
import { defaultsOf, type Parsed, whole } from "../base/config/setting.ts";
import type { ClientOptions, FetchOptions } from "../mirror/api/client.ts";
import type { Fetch, RequestNotice } from "../mirror/api/fetch.ts";
import type { Wording } from "../mirror/api/upstream-errors.ts";
import { wrongOption } from "./endpoint-path.ts";

/** A request that failed and is sent again. */
export interface RetryNotice {
  attempt: number;
  /** Milliseconds until the next try. Null when the service asked all requests to wait. */
  waitMs: number | null;
  error: string;
}

/** The service and the manners of a client. Each default is that of the setting with the same meaning. */
export interface ServiceClientOptions {
  /**
   * The URL before `/api/v1/`, with its path prefix if it has one. A user and a password in it are sent as
   * Basic, for a proxy in front of the service.
   */
  baseUrl: string | URL;
  /** Requests a second, evenly spaced, for all calls of this client; 0 means no limit. @default 3 */
  ratePerSecond?: number | undefined;
  /** The most requests in flight at once, 1 to 64. @default 4 */
  concurrency?: number | undefined;
  /** Milliseconds for one try of a request, headers and body. @default 30000 */
  timeoutMs?: number | undefined;
  /** Tries after the first, 0 to 100, for network errors, 408, 425, 429 and 5xx. `Retry-After` is obeyed. @default 5 */
  retries?: number | undefined;
  /** The longest body that is accepted, before and after decompression. @default 64 MiB */
  maxBodyBytes?: number | undefined;
  /** Aborts every request and every wait of the client. They reject with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The value of `User-Agent`: who asks, as "our-tool/1.2 (ops@example.org)". @default "docmirror" */
  userAgent?: string | undefined;
  /**
   * Sent with every request, as a login that the service wants. Messages do not show values of logins. A name that
   * belongs to the connection, such as `host`, is a ConfigError. @default none
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Sends each request in place of the client's own connections: `globalThis.fetch`, one with a dispatcher of your own,
   * or one for tests. Pace, retries, limits and redirects stay with the client. Proxies are then its matter.
   * @default undici
   */
  fetch?: Fetch | undefined;
  /** Whether HTTP_PROXY, HTTPS_PROXY and NO_PROXY count. They do not with `fetch`. @default true */
  useProxies?: boolean | undefined;
  /**
   * Whether a record may hold a value of another type in a documented field, and `NaN` or an infinite number, which
   * Python writes. Such a value is then in `extra`, and the field is absent. Otherwise such a record is an
   * `UnexpectedShapeError`. @default false
   */
  allowOddFields?: boolean | undefined;
  /** Called at the end of each request that was sent, tries and redirects too: for a log, a trace or a count. It must not throw. */
  onRequest?: ((notice: RequestNotice) => void) | undefined;
  onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Called when the service held back or paused the requests, with a sentence for people. */
  onWarning?: ((message: string) => void) | undefined;
}

/** How the requests of a call may differ from those of the client. */
export interface CallOptions {
  /** Aborts this call alone. It rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one try of each request. @default that of the client */
  timeoutMs?: number | undefined;
  /** Tries after the first, 0 to 100, also more than those of the client. @default that of the client */
  retries?: number | undefined;
  /** Sent in addition to those of the client; of one name, these count. @default none */
  headers?: Readonly<Record<string, string>> | undefined;
}

const LIMITS = ["ratePerSecond", "concurrency", "timeoutMs", "retries"] as const;

const WORDING: Wording = {
  nameOf: (key) => (key === "contact" ? "userAgent" : key),
  whenLost: "try again later, with a new client",
};

/** Checks the options and adds the defaults. Throws one ConfigError that names every fault. */
export function resolveOptions(options: ServiceClientOptions): ClientOptions {
  const {
    onRequest,
    onRetry,
    onWarning,
    signal,
    fetch,
    userAgent = "docmirror",
    useProxies = true,
  } = options;
  const faults: string[] = [];
  function settle<T>(name: string, given: unknown, parsed: Parsed<T>, fallback: T): T {
    if ("value" in parsed) return parsed.value;
    const shown = typeof given === "string" ? `"${maskUrl(given)}"` : String(given);
    faults.push(`${name}: ${shown} ${parsed.fault}`);
    return fallback;
  }
  const defaults = defaultsOf(SERVICE_SETTINGS);
  const givenUrl = String(options.baseUrl);
  const noUrl = new URL("http://none.invalid");
  const baseUrl = settle("baseUrl", givenUrl, SERVICE_SETTINGS.baseUrl.parse(givenUrl), noUrl);
  const limits = { ...defaults };
  for (const name of LIMITS) {
    const given = options[name];
    if (given !== undefined)
      limits[name] = settle(name, given, SERVICE_SETTINGS[name].parse(String(given)), defaults[name]);
  }
  const givenBytes = options.maxBodyBytes ?? defaults.maxBodyBytes;
  const maxBodyBytes = settle("maxBodyBytes", givenBytes, whole(1, 511 * 1024 * 1024)(String(givenBytes)), 0);
  faults.push(...headerFaults(options.headers), ...headerFaults({ "user-agent": userAgent }));
  const proxies = useProxies && fetch === undefined ? environmentProxies() : undefined;
  const route = findProxyRoute(baseUrl, proxies);
  if (route.proxy === null && route.isFault)
    faults.push(`${route.because}: its value is not a proxy's address`);
  if (faults.length > 0) throw wrongOption(`the client cannot be made: ${faults.join("; ")}`);

  const { ratePerSecond, concurrency, timeoutMs, retries } = limits;
  return {
    ...{ baseUrl, ratePerSecond, concurrency, timeoutMs, retries, mostRetries: 100, maxBodyBytes },
    headers: { "user-agent": userAgent, ...lowerCased(options.headers ?? {}) },
    wording: WORDING,
    proxies,
    clock: systemClock,
    log: { info: ({ wait_ms: waitMs, ...facts }) => onRetry?.({ ...facts, waitMs }) },
    ...(fetch && { fetch }),
    ...(signal && { signal }),
    ...(onWarning && { onWarning }),
    ...(onRequest && { onRequest }),
  };
}

type RequestOptions = Pick<FetchOptions<unknown>, "signal" | "timeoutMs" | "retries" | "headers">;

export function requestOptions({ signal, timeoutMs, retries, headers }: CallOptions): RequestOptions {
  const faults = Object.entries({ timeoutMs, retries }).flatMap(([name, value]) => {
    const parsed = SERVICE_SETTINGS[name as "timeoutMs" | "retries"].parse(String(value));
    return value === undefined || "value" in parsed ? [] : [`${name}: ${value} ${parsed.fault}`];
  });
  faults.push(...headerFaults(headers));
  if (faults.length > 0) throw wrongOption(`the call cannot be made: ${faults.join("; ")}`);
  return {
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retries !== undefined && { retries }),
    ...(headers && { headers: lowerCased(headers) }),
  };
}

type Headers = Readonly<Record<string, string>>;

/** They belong to the connection, or decide what of a body comes. */
const CONNECTION =
  /^(accept-encoding|connection|content-.*|expect|host|http2-settings|keep-alive|range|te|trailer|transfer-encoding|upgrade)$/;

/** What is wrong with headers, with the name of each and never a value: it may be a login. Empty when nothing is. */
function headerFaults(headers: Headers = {}): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!/^[!#$%&'*+.^`|~\w-]+$/.test(name))
      return [`headers: ${JSON.stringify(name)} is no name of a header`];
    if (CONNECTION.test(name.toLowerCase()))
      return [`headers: ${name} cannot be set: the client sets it itself`];
    const isText = typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
    return isText ? [] : [`headers: the value of ${name} is no text that a header can hold`];
  });
}

function lowerCased(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

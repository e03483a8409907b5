import { systemClock } from "../base/clock.ts";
import { maskUrl } from "../base/config/addresses.ts";
import { environmentProxies, findProxyRoute } from "../base/config/proxies.ts";
import { SERVICE_SETTINGS } from "../base/config/service-settings.ts";
import { defaultsOf, type Parsed, whole } from "../base/config/setting.ts";
import type { ClientOptions, FetchOptions } from "../mirror/api/client.ts";
import type { Wording } from "../mirror/api/upstream-errors.ts";
import type { CallOptions, ServiceClientOptions } from "./client-options.ts";
import { wrongOption } from "./endpoint-path.ts";

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

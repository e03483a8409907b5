import { systemClock } from "../base/clock.ts";
import { maskUrl } from "../base/config/addresses.ts";
import { environmentProxies, findProxyRoute } from "../base/config/proxies.ts";
import { SERVICE_SETTINGS } from "../base/config/service-settings.ts";
import { defaultsOf, whole } from "../base/config/setting.ts";
import type { ClientOptions, FetchOptions } from "../mirror/api/client.ts";
import type { Wording } from "../mirror/api/upstream-errors.ts";
import type { CallOptions, ServiceClientOptions } from "./client-options.ts";
import { wrongOption } from "./endpoint-path.ts";

const { ratePerSecond, concurrency, timeoutMs, retries } = SERVICE_SETTINGS;
/** The options that are numbers. Each but the last is read as the setting of its name. */
const NUMBERS = {
  ratePerSecond,
  concurrency,
  timeoutMs,
  retries,
  maxBodyBytes: { parse: whole(1, 511 * 1024 * 1024) },
} as const;
type NumberName = keyof typeof NUMBERS;
const NAMES = Object.keys(NUMBERS) as NumberName[];

const WORDING: Wording = {
  nameOf: (key) => (key === "contact" ? "userAgent" : key),
  whenLost: "try again later, with a new client",
};

/** Checks the options and adds the defaults. Throws one ConfigError that names every fault. */
export function resolveOptions(options: ServiceClientOptions): ClientOptions {
  const { onRetry, fetch, userAgent = "docmirror", useProxies = true, headers = {} } = options;
  const givenUrl = String(options.baseUrl);
  const parsedUrl = SERVICE_SETTINGS.baseUrl.parse(givenUrl);
  const baseUrl = "value" in parsedUrl ? parsedUrl.value : new URL("http://none.invalid");
  const proxies = useProxies && fetch === undefined ? environmentProxies() : undefined;
  const route = findProxyRoute(baseUrl, proxies);
  assertNoFaults("client", [
    ...("fault" in parsedUrl ? [`baseUrl: "${maskUrl(givenUrl)}" ${parsedUrl.fault}`] : []),
    ...numberFaults(options),
    ...headerFaults(headers),
    ...headerFaults({ "user-agent": userAgent }),
    ...(route.proxy === null && route.isFault
      ? [`${route.because}: its value is not a proxy's address`]
      : []),
  ]);
  const defaults = defaultsOf(SERVICE_SETTINGS);
  const numbers = NAMES.map((name) => [name, Number(options[name] ?? defaults[name])]);
  return {
    ...(Object.fromEntries(numbers) as Record<NumberName, number>),
    baseUrl,
    mostRetries: 100,
    headers: { "user-agent": userAgent, ...lowerCased(headers) },
    wording: WORDING,
    proxies,
    clock: systemClock,
    log: { info: ({ wait_ms: waitMs, ...facts }) => onRetry?.({ ...facts, waitMs }) },
    fetch,
    signal: options.signal,
    onWarning: options.onWarning,
    onRequest: options.onRequest,
  };
}

type RequestOptions = Pick<FetchOptions<unknown>, "signal" | "timeoutMs" | "retries" | "headers">;

export function requestOptions({ signal, timeoutMs, retries, headers }: CallOptions): RequestOptions {
  assertNoFaults("call", [...numberFaults({ timeoutMs, retries }), ...headerFaults(headers)]);
  return { signal, timeoutMs, retries, headers: headers && lowerCased(headers) };
}

function assertNoFaults(what: string, faults: readonly string[]): void {
  if (faults.length > 0) throw wrongOption(`the ${what} cannot be made: ${faults.join("; ")}`);
}

function numberFaults(options: Partial<Record<NumberName, number | undefined>>): string[] {
  return NAMES.flatMap((name) => {
    const given = options[name];
    const parsed = NUMBERS[name].parse(String(given));
    return given === undefined || "value" in parsed ? [] : [`${name}: ${given} ${parsed.fault}`];
  });
}

type Headers = Readonly<Record<string, string>>;

/** They belong to the connection, or decide what of a body comes. */
const CONNECTION =
  /^(accept-encoding|connection|content-.*|expect|host|http2-settings|keep-alive|range|te|trailer|transfer-encoding|upgrade)$/;

/** The faults of headers, with the name of each and never a value: it may be a login. */
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

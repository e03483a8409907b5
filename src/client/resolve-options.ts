import { systemClock } from "../base/clock.ts";
import { maskUrl } from "../base/config/mask-url.ts";
import { environmentProxies } from "../base/config/proxies.ts";
import { findProxyRoute } from "../base/config/proxy-route.ts";
import { SERVICE_SETTINGS } from "../base/config/service-settings.ts";
import { defaultsOf } from "../base/config/setting.ts";
import { type Parsed, whole } from "../base/config/setting-values.ts";
import { ConfigError } from "../base/errors.ts";
import type { ClientOptions } from "../mirror/api/client.ts";
import type { Wording } from "../mirror/api/wording.ts";
import type { ServiceClientOptions } from "./client-options.ts";
import { headerFaults, lowerCased } from "./request-headers.ts";

const LIMITS = ["ratePerSecond", "concurrency", "timeoutMs", "retries"] as const;

const WORDING: Wording = { nameOf: (key) => key, whenLost: "try again later, with a new client" };

/** Checks the options and adds the defaults. Throws one ConfigError that names every fault. */
export function resolveOptions(options: ServiceClientOptions): ClientOptions {
  const { onRetry, onWarning, signal, fetch, userAgent = "docmirror", useProxies = true } = options;
  const faults: string[] = [];
  function settle<T>(name: string, given: unknown, parsed: Parsed<T>, fallback: T): T {
    if ("value" in parsed) return parsed.value;
    faults.push(
      `${name}: ${typeof given === "string" ? `"${maskUrl(given)}"` : String(given)} ${parsed.fault}`,
    );
    return fallback;
  }
  const defaults = defaultsOf(SERVICE_SETTINGS);
  const givenUrl = String(options.baseUrl);
  const baseUrl = settle(
    "baseUrl",
    givenUrl,
    SERVICE_SETTINGS.baseUrl.parse(givenUrl),
    new URL("http://none.invalid"),
  );
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
  if (faults.length > 0) throw new ConfigError(`the client cannot be made: ${faults.join("; ")}`);

  const { ratePerSecond, concurrency, timeoutMs, retries } = limits;
  return {
    baseUrl,
    ratePerSecond,
    concurrency,
    timeoutMs,
    retries,
    mostRetries: 100,
    maxBodyBytes,
    headers: { "user-agent": userAgent, ...lowerCased(options.headers ?? {}) },
    wording: WORDING,
    proxies,
    clock: systemClock,
    log: { warn: ({ wait_ms: waitMs, ...facts }) => onRetry?.({ ...facts, waitMs }) },
    ...(fetch && { fetch }),
    ...(signal && { signal }),
    ...(onWarning && { onWarning }),
  };
}

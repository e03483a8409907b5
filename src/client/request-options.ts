import { SERVICE_SETTINGS } from "../base/config/service-settings.ts";
import { ConfigError } from "../base/errors.ts";
import type { FetchOptions } from "../mirror/api/client.ts";
import type { CallOptions } from "./call-options.ts";
import { headerFaults, lowerCased } from "./request-headers.ts";

/** Checks the options of a call. Throws one ConfigError that names every fault. */
export function requestOptions({
  signal,
  timeoutMs,
  retries,
  headers,
}: CallOptions): Pick<FetchOptions<unknown>, "signal" | "timeoutMs" | "retries" | "headers"> {
  const faults = Object.entries({ timeoutMs, retries }).flatMap(([name, value]) => {
    const parsed = SERVICE_SETTINGS[name as "timeoutMs" | "retries"].parse(String(value));
    return value === undefined || "value" in parsed ? [] : [`${name}: ${value} ${parsed.fault}`];
  });
  faults.push(...headerFaults(headers));
  if (faults.length > 0) throw new ConfigError(`the call cannot be made: ${faults.join("; ")}`);
  return {
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retries !== undefined && { retries }),
    ...(headers && { headers: lowerCased(headers) }),
  };
}

import { isLoopback, maskUrl } from "../../base/config/addresses.ts";
import { findProxyRoute, type ProxyRoute, showProxy } from "../../base/config/proxies.ts";
import { requireBaseUrl } from "../../base/config.ts";
import type { CommandContext } from "../context/run-command.ts";
import { ok, type Result, warning } from "./finding.ts";

/** Whether there is a service to ask, and how it is reached. The settings themselves were parsed before. */
export function checkSettings({ config, settings }: CommandContext): Result {
  const baseUrl = requireBaseUrl(config);
  const way = wayOf(findProxyRoute(baseUrl, config.proxies));
  if (config.ratePerSecond === 0 && !isLoopback(baseUrl.hostname)) {
    return warning(
      `DOCMIRROR_RATE is 0: requests are sent as fast as the service answers, ${way}`,
      "set it to what the service allows; the default is 5 requests a second",
    );
  }
  const given = settings.filter(({ source }) => source !== "default").length;
  const source = settings.find(({ key }) => key === "baseUrl")?.source ?? "default";
  return ok(
    `all can be used, ${given} of ${settings.length} are not the default; ` +
      `the service is ${maskUrl(baseUrl.href)} (${source}), asked ${way}`,
  );
}

function wayOf({ proxy, because }: ProxyRoute): string {
  return proxy === null ? `directly: ${because}` : `through the proxy ${showProxy(proxy)} (${because})`;
}

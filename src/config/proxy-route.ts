import { BlockList, isIP } from "node:net";
import { maskUrl } from "./mask-url.ts";
import type { Proxies, ProxyVariable } from "./proxies.ts";

/** The way to a service: through a proxy, or directly. `because` is what decided it, as in "HTTPS_PROXY" or "HTTPS_PROXY is not set". */
export type ProxyRoute =
  | { proxy: URL; because: string }
  | {
      proxy: null;
      because: string /** The proxy that should be used has no usable address. */;
      isFault?: true;
    };

/** The way to this service. Throws nothing. */
export function findProxyRoute(target: URL, proxies: Proxies | undefined): ProxyRoute {
  if (proxies === undefined) return { proxy: null, because: "no proxy is set" };
  const scheme = target.protocol === "https:" ? "https" : "http";
  const variable: ProxyVariable<URL | null> | null = proxies[scheme];
  if (variable === null) return { proxy: null, because: `${scheme.toUpperCase()}_PROXY is not set` };
  const exempt = proxies.none === null ? undefined : findExemption(target, proxies.none.value);
  if (proxies.none !== null && exempt !== undefined)
    return { proxy: null, because: `${proxies.none.name} has ${exempt}` };
  const { name, value } = variable;
  return value === null ? { proxy: null, because: name, isFault: true } : { proxy: value, because: name };
}

/** A proxy as messages show it, its secrets masked. */
export function showProxy(proxy: URL): string {
  return maskUrl(proxy.href).replace(/\/$/, "");
}

/**
 * The entry of NO_PROXY that names this host: `*`; a name, which stands for all names below it too, with a dot or `*.` before it or not; an
 * address; a network as in 10.0.0.0/8. An entry with a port is for that port alone.
 */
function findExemption(target: URL, hosts: string): string | undefined {
  const host = bare(target.hostname);
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return hosts.split(/[\s,]+/).find((entry) => {
    if (entry === "*") return true;
    // An address of IPv6 has colons of its own, and a port only behind brackets.
    const isBareV6 = isIP(entry.replace(/\/.*/, "")) === 6;
    const [, name = "", entryPort] = isBareV6 ? [entry, entry] : (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []);
    if (name === "" || (entryPort !== undefined && entryPort !== port)) return false;
    const named = bare(name).replace(/^\*?\./, "");
    if (isIP(host) !== 0) return isWithin(host, named);
    return host === named || host.endsWith(`.${named}`);
  });
}

function isWithin(address: string, network: string): boolean {
  const [base = "", prefix] = network.split("/");
  const family = isIP(base) === 6 ? "ipv6" : "ipv4";
  if (isIP(base) === 0 || isIP(base) !== isIP(address)) return false;
  const list = new BlockList();
  try {
    if (prefix === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(prefix), family);
  } catch {
    return false;
  }
  return list.check(address, family);
}

/** Without what a host may be written with: brackets, capitals, the dot at its end. */
function bare(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}

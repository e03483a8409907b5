import { BlockList, isIP } from "node:net";
import { maskUrl } from "./addresses.ts";

/** A variable as it was given; its name may be in lower case. */
interface ProxyVariable<T> {
  readonly name: string;
  readonly value: T;
}

/** The proxies that the environment names, by the scheme of the service's URL. */
export interface Proxies {
  /** May carry a password: print it through `showProxy` alone. Null where the value is no proxy's address. */
  readonly http: ProxyVariable<URL | null> | null;
  readonly https: ProxyVariable<URL | null> | null;
  readonly none: ProxyVariable<string> | null;
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Lower-case names win, as with curl. The first layer that has a
 * variable counts; an empty value there means none. Undefined where nothing is set. Never throws.
 */
export function readProxies(layers: readonly Variables[]): Proxies | undefined {
  const find = (upperCase: string): ProxyVariable<string> | null => {
    for (const variables of layers) {
      for (const name of [upperCase.toLowerCase(), upperCase]) {
        const value = variables[name]?.trim();
        if (value !== undefined) return value === "" ? null : { name, value };
      }
    }
    return null;
  };
  const findProxy = (upperCase: string) => {
    const given = find(upperCase);
    return given && { name: given.name, value: parseProxy(given.value) };
  };
  const proxies = { http: findProxy("HTTP_PROXY"), https: findProxy("HTTPS_PROXY"), none: find("NO_PROXY") };
  return proxies.http || proxies.https ? proxies : undefined;
}

/** The proxies of this process's environment, for a client outside the command line. Never throws. */
export function environmentProxies(): Proxies | undefined {
  return readProxies([process.env]);
}

/** `proxy:3128` means `http://proxy:3128`, as with curl. */
function parseProxy(text: string): URL | null {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(written)) return null;
  const url = new URL(written);
  return /^https?:$/.test(url.protocol) && url.hostname !== "" ? url : null;
}

/** The way to a service. `because` names the reason, such as "HTTPS_PROXY" or "HTTPS_PROXY is not set". */
export type ProxyRoute = { proxy: URL; because: string } | { proxy: null; because: string; isFault?: true };

/** The way to this service. Never throws. */
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
 * The entry of NO_PROXY that matches this host: `*`, a name, an address, or a network such as 10.0.0.0/8. A name also matches
 * all names below it, with or without a leading dot or `*.`. An entry with a port matches only that port.
 */
function findExemption(target: URL, hosts: string): string | undefined {
  const host = bare(target.hostname);
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return hosts.split(/[\s,]+/).find((entry) => {
    if (entry === "*") return true;
    // An IPv6 address contains colons, and has a port only after brackets.
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

function bare(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}

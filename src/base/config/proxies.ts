/** A variable as it was given; its name may be in lower case. */
export interface ProxyVariable<T> {
  readonly name: string;
  readonly value: T;
}

/** The proxies that the environment names, by the scheme of the service's URL. */
export interface Proxies {
  /** May carry a password: print it through `showProxy` alone. Null where the value is no proxy's address. */
  readonly http: ProxyVariable<URL | null> | null;
  readonly https: ProxyVariable<URL | null> | null;
  /** The hosts that are reached without a proxy, as given. */
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

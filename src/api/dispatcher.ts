import { Agent, type Dispatcher, Pool, ProxyAgent } from "undici";
import { ProxyPool } from "./proxy-pool.ts";

export interface DispatcherOptions {
  /** Null: directly. */
  proxy: URL | null;
  /** The most connections to the service. */
  connections: number;
  /** For each step: to connect, to wait for the head of a reply, to wait for more of its body. */
  timeoutMs: number;
}

/** The connections to one service. */
export function createDispatcher({ proxy, connections, timeoutMs }: DispatcherOptions): Dispatcher {
  const limits = { connections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const connect = { timeout: timeoutMs };
  if (proxy === null) return new Agent({ ...limits, connect });
  const { protocol, host } = proxy;
  const token = proxyLogin(proxy);
  return new ProxyAgent({
    ...limits,
    // The login header is built here, because undici drops a user without a password and throws for a bare
    // percent sign.
    uri: `${protocol}//${host}`,
    ...(token === null ? {} : { token }),
    // Plain HTTP is forwarded without a tunnel, as curl does it: many proxies refuse a tunnel to port 80.
    proxyTunnel: false,
    proxyTls: connect,
    requestTls: connect,
    // undici would create both without the limits above.
    factory: (origin, options) => new Pool(origin, { ...options, ...limits }),
    clientFactory: (origin, options) => new ProxyPool(origin, { ...options, headersTimeout: timeoutMs }),
  });
}

function proxyLogin({ username, password }: URL): string | null {
  if (username === "" && password === "") return null;
  return basicLogin(username, password);
}

/** The value of a login header, for a user and a password as written in a URL. */
export function basicLogin(username: string, password: string): string {
  const credentials = `${percentDecode(username)}:${percentDecode(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

/** A password may hold a bare percent sign, which the URL keeps as it is. */
function percentDecode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

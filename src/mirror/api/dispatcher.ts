import { Agent, type Dispatcher, errors, Pool, ProxyAgent } from "undici";
import { basicLogin } from "./logins.ts";
import { TunnelError } from "./upstream-errors.ts";

export { request } from "undici";

export interface DispatcherOptions {
  /** Null: directly. */
  proxy: URL | null;
  /** The most connections to the service. */
  connections: number;
  /** For each step: to connect, to wait for the head of a reply, to wait for more of its body. */
  timeoutMs: number;
}

/**
 * The connections to a proxy, used to open tunnels. When the proxy closes one, undici 7 retries without a
 * pause and without an end (nodejs/undici#3897), because the error looks like that of an idle connection.
 * `TunnelError` prevents that. It also shows that the proxy failed, not the service.
 */
class ProxyPool extends Pool {
  override async connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    let reply: Dispatcher.ConnectData;
    try {
      reply = await super.connect(options);
    } catch (error) {
      throw error instanceof errors.ClientDestroyedError ? error : new TunnelError(null, error);
    }
    if (reply.statusCode === 200) return reply;
    reply.socket.on("error", () => {}).destroy();
    throw new TunnelError(reply.statusCode);
  }
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

import { connect as connectPlain, type Socket } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { Agent, buildConnector, type Dispatcher, errors, Pool, ProxyAgent } from "undici";
import { loginOf } from "./logins.ts";
import { TunnelError } from "./upstream-errors.ts";

export { request } from "undici";

export interface DispatcherOptions {
  /** Null: directly. */
  proxy: URL | null;
  connections: number;
  /** To connect, and for a proxy to open a tunnel. All else is ended by the signal of the request. */
  timeoutMs: number;
  /** Hears when the certificate of the service ends, with each connection that proves it anew. A proxy's is not meant. */
  onCertificate?: (endsAt: Date) => void;
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

/** A port that answers TLS with silence for so long is asked in plain HTTP, once a connection. */
const SILENT_MS = 5000;

/**
 * Connects. Servers of plain HTTP that wait for the end of a line are silent to TLS, so a wrong scheme would be nothing but
 * time-outs. It has the code that OpenSSL gives for those who answer at once.
 */
function createConnector(
  options: { timeout: number } & buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector(options);
  return (place, callback) => {
    if (place.protocol !== "https:") return connect(place, callback);
    const askInPlain = async () => {
      if (!(await speaksHttp(place))) return;
      const code = "ERR_SSL_WRONG_VERSION_NUMBER";
      socket.destroy(Object.assign(new Error("the port answers in plain HTTP"), { code }));
    };
    const timer = setTimeout(askInPlain, Math.min(SILENT_MS, options.timeout / 3));
    // undici gives it back, which its types leave out.
    const socket = connect(place, (...ended) => {
      clearTimeout(timer);
      callback(...ended);
    }) as unknown as Socket;
  };
}

/** Asks a port in plain HTTP, and says whether it answers so. With 400, servers of TLS say that they want TLS. */
function speaksHttp({ hostname, port }: buildConnector.Options): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectPlain({ host: hostname, port: Number(port || 443), timeout: SILENT_MS });
    socket.write(`GET / HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`);
    socket.once("data", (bytes) => resolve(/^HTTP\/1\.\d (?!400)/.test(bytes.toString("latin1"))));
    for (const event of ["data", "timeout", "error"]) socket.once(event, () => socket.destroy());
    socket.once("close", () => resolve(false));
  });
}

/**
 * The time for each address of a name, when there are several: Node gives them 250 ms, and never comes to a service that takes
 * 300 ms to connect when its other address is dead. Two must fit into the time-out.
 */
const ADDRESS_MS = 2000;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { proxy, connections, timeoutMs, onCertificate } = options;
  const limits = { connections, headersTimeout: 0, bodyTimeout: 0 };
  const autoSelectFamilyAttemptTimeout = Math.ceil(Math.min(ADDRESS_MS, timeoutMs / 2));
  const connect = { timeout: timeoutMs, autoSelectFamilyAttemptTimeout };
  const noting = {
    ...connect,
    checkServerIdentity(name: string, certificate: PeerCertificate) {
      const error = checkServerIdentity(name, certificate);
      if (error === undefined) onCertificate?.(new Date(certificate.valid_to));
      return error;
    },
  };
  if (proxy === null) return new Agent({ ...limits, connect: createConnector(noting) });
  const { protocol, host } = proxy;
  const token = loginOf(proxy);
  return new ProxyAgent({
    ...limits,
    // undici drops a user without a password, and throws for a bare percent sign.
    uri: `${protocol}//${host}`,
    ...(token === null ? {} : { token }),
    // Plain HTTP is forwarded without a tunnel, as curl does it: many proxies refuse a tunnel to port 80.
    proxyTunnel: false,
    proxyTls: connect,
    requestTls: noting,
    // undici would create both without the limits above.
    factory: (origin, options) => new Pool(origin, { ...options, ...limits }),
    clientFactory: (origin, options) => new ProxyPool(origin, { ...options, headersTimeout: timeoutMs }),
  });
}

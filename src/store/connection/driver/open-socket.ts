import net from "node:net";
import tls from "node:tls";
import type { DatabaseAddress } from "../database-url.ts";
import { DriverSocket, type SocketEvents } from "./driver-socket.ts";
import {
  nameKind,
  SESSION_ATTRS,
  type ServerKind,
  type SessionSettings,
  sessionSettings,
} from "./session-start.ts";

type Place = DatabaseAddress["hosts"][number];

interface SocketOpenerOptions {
  timeoutMs: number;
  settings: SessionSettings;
  /** For each connection that the driver uses. */
  events: SocketEvents;
  isRetired(): boolean;
  /** Logs in over a new connection, asks, and closes it. */
  findKind(socket: DriverSocket): Promise<ServerKind>;
}

/**
 * Opens the connections of a pool, each to the first host that answers and is of the wanted kind. The driver could choose
 * too, but it takes a standby for a server that writes, hides why no host answers, and asks again without a pause while none
 * is right. So the driver knows of one host, and a connection of its own asks each server first.
 */
export function createSocketOpener(address: DatabaseAddress, options: SocketOpenerOptions) {
  const { timeoutMs, settings, events, isRetired, findKind } = options;
  const sockets = new Set<DriverSocket>();
  const { hosts, targetSessionAttrs } = address;
  const rounds = targetSessionAttrs === undefined ? [null] : (SESSION_ATTRS[targetSessionAttrs] ?? []);

  async function open(place: Place, wanted: SessionSettings, own?: SocketEvents): Promise<DriverSocket> {
    const socket = new DriverSocket(await openSocket(place, address.tls, timeoutMs), place, wanted, own);
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    return socket;
  }

  /** A session of ours may be read-only by its own settings, which say nothing about the server. */
  async function ask(place: Place): Promise<ServerKind> {
    const asked = await open(place, sessionSettings(address.session));
    const timer = setTimeout(() => asked.abandon(), timeoutMs);
    return findKind(asked).finally(() => clearTimeout(timer));
  }

  // An error thrown here would cost the pool this connection for good. So a failed connection is returned as
  // a socket that is already lost.
  async function socket(): Promise<DriverSocket> {
    const [first = { host: "", port: 0 }] = hosts;
    let loss: Error | null = null;
    let isWrong = false;
    const found = new Map<string, string>();
    for (const choice of rounds) {
      for (const place of hosts) {
        if (isRetired()) break;
        const name = `${place.host}:${place.port}`;
        try {
          const kind = choice === null ? null : await ask(place);
          if (kind === null || choice?.(kind)) return await open(place, settings, events);
          isWrong = true;
          found.set(name, nameKind(kind));
        } catch (error) {
          loss = error as Error;
          found.set(name, `gave ${String((loss as { code?: unknown }).code ?? loss.message)}`);
        }
      }
    }
    // A server of the wrong kind says more than one that does not answer.
    if (isWrong) {
      const all = [...found].map((one) => one.join(" ")).join(", ");
      loss = fault("WRONG_SERVERS", `no server is what target_session_attrs asks for: ${all}`);
    }
    loss ??= fault("CONNECTION_CLOSED", "the connection was lost");
    return new DriverSocket(null, { ...first, loss }, settings);
  }

  return { sockets, socket };
}

const fault = (code: string, message: string, place: Partial<Record<"address" | "port", unknown>> = {}) =>
  Object.assign(new Error(message), { code, ...place });

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const [YES, NO] = ["S", "N"];

/**
 * Connects to one host, with TLS if the address asks for it. postgres.js does not do this itself, because it never sets
 * TCP_NODELAY: each COPY would wait 40 ms for a delayed acknowledgement. Rejects after `timeoutMs`.
 */
function openSocket({ host, port }: Place, security: DatabaseAddress["tls"], timeoutMs: number) {
  const silentClose = () => fault("ECONNRESET", `${host}:${port} closed the connection without a reply`);
  const isFile = host.startsWith("/");
  return new Promise<net.Socket>((resolve, reject) => {
    const socket = isFile
      ? net.connect({ path: `${host}/.s.PGSQL.${port}` })
      : net.connect({ host, port, noDelay: true });
    const timer = setTimeout(() => {
      const message = `no answer from ${host}:${port} within ${timeoutMs} ms`;
      const code = socket.connecting ? "ETIMEDOUT" : "CONNECT_TIMEOUT";
      socket.destroy(fault(code, message, { address: host, port }));
    }, timeoutMs);
    const settle = (opened: net.Socket | Error) => {
      clearTimeout(timer);
      socket.off("error", settle).off("close", hungUp);
      if (opened instanceof Error) reject(opened);
      else resolve(opened);
    };
    const hungUp = () => settle(silentClose());
    socket.once("error", settle).once("close", hungUp);
    socket.once("connect", async () => {
      try {
        settle(security === false || isFile ? socket : await secure(socket, host, security));
      } catch (error) {
        socket.destroy();
        settle(error as Error);
      }
    });
    // postgres.js does not treat it as an error when a server closes the connection without any reply: it
    // would try again for ever.
    socket.once("close", () => {
      if (socket.bytesRead === 0) socket.emit("error", silentClose());
    });
    // An error without a listener would end the process.
    socket.on("error", () => {});
  });
}

async function secure(socket: net.Socket, host: string, security: Exclude<DatabaseAddress["tls"], false>) {
  socket.write(SSL_REQUEST);
  const answer = (await new Promise<Buffer>((resolve) => socket.once("data", resolve))).toString("latin1");
  if (answer === NO && security.isOptional) return socket;
  if (answer === NO) throw fault("EPROTO", "the server does not speak TLS");
  // More than this letter would be read as if it had come encrypted.
  if (answer !== YES) throw fault("08P01", "the server there does not speak Postgres' protocol");
  const secured = tls.connect({
    socket,
    ...(net.isIP(host) ? {} : { servername: host }),
    ...security.options,
  });
  await new Promise<void>((resolve, reject) => {
    secured.once("secureConnect", resolve).once("error", reject);
  });
  secured.on("error", () => {});
  return secured;
}

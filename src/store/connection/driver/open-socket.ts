import net from "node:net";
import tls from "node:tls";
import type { DatabaseAddress } from "../database-url.ts";

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const YES = "S".charCodeAt(0);

/**
 * Connects to one host, with TLS if the address asks for it. postgres.js does not do this itself, because it
 * never sets TCP_NODELAY: each COPY would wait 40 ms for a delayed acknowledgement. Rejects after
 * `timeoutMs`.
 */
export function openSocket(
  place: { host: string; port: number },
  security: DatabaseAddress["tls"],
  timeoutMs: number,
): Promise<net.Socket> {
  const { host, port } = place;
  return new Promise((resolve, reject) => {
    const socket = host.startsWith("/")
      ? net.connect({ path: `${host}/.s.PGSQL.${port}` })
      : net.connect({ host, port, noDelay: true });
    const timer = setTimeout(() => socket.destroy(timedOut(place, timeoutMs)), timeoutMs);
    const settle = (opened: net.Socket | Error) => {
      clearTimeout(timer);
      socket.off("error", settle).off("close", hungUp);
      if (opened instanceof Error) reject(opened);
      else resolve(opened);
    };
    const hungUp = () => settle(silentClose(place));
    socket.once("error", settle).once("close", hungUp);
    socket.once("connect", async () => {
      try {
        settle(security === false ? socket : await secure(socket, host, security));
      } catch (error) {
        socket.destroy();
        settle(error as Error);
      }
    });
    // postgres.js does not treat it as an error when a server closes the connection without any reply: it
    // would try again for ever.
    socket.once("close", () => {
      if (socket.bytesRead === 0) socket.emit("error", silentClose(place));
    });
    // An error without a listener would end the process.
    socket.on("error", () => {});
  });
}

/** Asks the server for TLS, as the protocol requires, and continues with TLS. */
async function secure(
  socket: net.Socket,
  host: string,
  security: Exclude<DatabaseAddress["tls"], false>,
): Promise<net.Socket> {
  socket.write(SSL_REQUEST);
  const answer = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  if (answer[0] !== YES) {
    if (security === "prefer") return socket;
    throw Object.assign(new Error("the server does not speak TLS"), { code: "EPROTO" });
  }
  const options = typeof security === "string" ? { rejectUnauthorized: false } : security;
  const secured = tls.connect({ socket, ...(net.isIP(host) ? {} : { servername: host }), ...options });
  await new Promise<void>((resolve, reject) => {
    secured.once("secureConnect", resolve).once("error", reject);
  });
  secured.on("error", () => {});
  return secured;
}

function timedOut({ host, port }: { host: string; port: number }, timeoutMs: number): Error {
  return Object.assign(new Error(`no answer from ${host}:${port} within ${timeoutMs} ms`), {
    code: "ETIMEDOUT",
    address: host,
    port,
  });
}

function silentClose({ host, port }: { host: string; port: number }): Error {
  return Object.assign(new Error(`${host}:${port} closed the connection without a reply`), {
    code: "ECONNRESET",
  });
}

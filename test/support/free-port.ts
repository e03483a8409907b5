import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";

/** Lets a server listen on loopback, on a free port unless told otherwise, and gives its address. */
export async function listenOnLoopback(server: Server, port = 0): Promise<URL> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Closes a server with its connections, whatever they do. */
export async function closeAtOnce(server: HttpServer): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/**
 * Below the ports that a system gives to outgoing connections, and beside those of the embedded Postgres: so nothing
 * takes a port while the server on it is started again.
 */
const PORTS = { first: 10_000, last: 19_999 };

/** A port of loopback on which nothing listens. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = PORTS.first + Math.floor(Math.random() * (PORTS.last - PORTS.first));
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
  throw new Error(`no free port between ${PORTS.first} and ${PORTS.last}`);
}

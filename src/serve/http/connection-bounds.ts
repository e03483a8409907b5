import type { Server } from "node:http";
import type { Socket } from "node:net";
import { clientOf } from "./app.ts";

export interface ConnectionBounds {
  /** Of all clients together. @default 1000 */
  most?: number;
  /** Of one client (`clientOf`). @default no limit, since behind a proxy all readers are one client */
  mostOfClient?: number | undefined;
  /** Called when a connection had to go, once a minute at most. */
  onFull?: (facts: { connections: number; clients: number }) => void;
}

const SAID_EVERY_MS = 60_000;

interface Connection {
  client: string;
  /** Those that were read and are not answered to their end. */
  requests: number;
}

/**
 * Bounds the connections of a server: each holds up to a head of memory, and a client may open thousands and send none to its end.
 * Where there are too many, the one without a request that was silent longest is closed for the new one, so that a
 * supervisor is still answered. Where all have requests, the new one is closed.
 */
export function boundConnections(
  server: Server,
  { most = 1000, mostOfClient = Number.POSITIVE_INFINITY, onFull = () => {} }: ConnectionBounds,
): void {
  /** The one whose last request is longest ago comes first. */
  const connections = new Map<Socket, Connection>();
  const counts = new Map<string, number>();
  let saidAt = Number.NEGATIVE_INFINITY;

  function forget(socket: Socket): void {
    const client = connections.get(socket)?.client;
    if (client === undefined) return;
    connections.delete(socket);
    const left = (counts.get(client) ?? 0) - 1;
    if (left > 0) counts.set(client, left);
    else counts.delete(client);
  }

  function closeOne(isOf: (client: string) => boolean): void {
    const now = performance.now();
    if (now - saidAt >= SAID_EVERY_MS) {
      saidAt = now;
      onFull({ connections: connections.size, clients: counts.size });
    }
    for (const [socket, { client, requests }] of connections) {
      if (requests > 0 || !isOf(client)) continue;
      forget(socket);
      socket.destroy();
      return;
    }
  }

  server.on("connection", (socket: Socket) => {
    const client = clientOf(socket.remoteAddress ?? "");
    const count = (counts.get(client) ?? 0) + 1;
    counts.set(client, count);
    connections.set(socket, { client, requests: 0 });
    socket.once("close", () => forget(socket));
    if (count > mostOfClient) closeOne((other) => other === client);
    else if (connections.size > most) closeOne(() => true);
  });
  server.prependListener("request", ({ socket }, reply) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    reply.once("close", () => {
      connection.requests -= 1;
      if (!connections.delete(socket)) return;
      connections.set(socket, connection);
    });
  });
}

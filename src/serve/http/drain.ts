/**
 * How a server stops without losing a request. A client that keeps its connection may send the next request at any moment, so
 * nothing is closed under it: the port closes, what runs is answered, each reply says that its connection ends, and connections
 * that wait for a request stay open for a while.
 */
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { Server as Listener, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** How often the connections are looked at after the stop. */
const SWEEP_EVERY_MS = 100;
/** A turn of the event loop in which little else ran. */
const SHORT_TURN_MS = 1;
/** How long such a turn is waited for. */
const SHORT_TURN_WITHIN_MS = 500;

export interface DrainOptions {
  /** How long connections wait for a request after the stop, and after the last reply that was under way. */
  drainMs: number;
  /** After this time all connections are cut. */
  graceMs: number;
}

/** What a stop had to cut. */
export interface Cut {
  /** Connections with a reply that was not sent to its end. */
  replies: number;
}

/** Follows the connections of a server from its start. The function that it gives stops the server; call it once. */
export function createDrain(server: Server, { drainMs, graceMs }: DrainOptions): () => Promise<Cut> {
  const connections = new Set<Socket>();
  /** How many there ever were. */
  let taken = 0;
  /** Of the requests on one connection the last one: clients may send several before they read. */
  const replies = new Map<Socket, ServerResponse>();
  let isDraining = false;
  let quietSince = 0;

  server.on("connection", (socket: Socket) => {
    taken += 1;
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.prependListener("request", ({ socket }, reply) => {
    replies.set(socket, reply);
    reply.once("close", () => {
      if (replies.get(socket) === reply) replies.delete(socket);
      // One that was begun before the stop has invited the next request.
      quietSince = performance.now();
    });
    if (isDraining) reply.setHeader("connection", "close");
  });

  /**
   * Resolves when no connection waits in the system's queue, which the port resets when it closes. While the port is open,
   * replies invite the next request, or all clients would come back over new connections.
   */
  async function takeWaiting(): Promise<void> {
    // A turn that has begun may have looked at the port before.
    await nextTurn();
    const from = performance.now();
    for (let before = from, now = from; now - from < SHORT_TURN_WITHIN_MS; before = now) {
      const known = taken;
      await nextTurn();
      now = performance.now();
      // A turn takes one of them.
      if (taken === known && now - before < SHORT_TURN_MS) return;
    }
  }

  async function closeIdle(): Promise<void> {
    // What has arrived while the process was busy is read in this turn, so that its connection is not idle any more.
    await nextTurn();
    if (performance.now() - quietSince < drainMs) return;
    server.closeIdleConnections();
    // The server calls one idle only after its first request.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  }

  return async () => {
    const cut: Cut = { replies: 0 };
    const late = setTimeout(() => {
      cut.replies = replies.size;
      server.closeAllConnections();
    }, graceMs);
    await takeWaiting();
    const closed = once(server, "close");
    // The `close` of an HTTP server also ends idle connections.
    Listener.prototype.close.call(server);
    isDraining = true;
    for (const reply of replies.values()) if (!reply.headersSent) reply.setHeader("connection", "close");
    quietSince = performance.now();
    void closeIdle();
    const sweep = setInterval(() => void closeIdle(), SWEEP_EVERY_MS);
    await closed;
    clearInterval(sweep);
    clearTimeout(late);
    // Ends the timer with which the server looks for slow requests.
    server.close();
    return cut;
  };
}

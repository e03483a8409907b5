import { once } from "node:events";
import { createServer, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { type AddressInfo, Server as Listener, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Hono } from "hono";
import { toListenError } from "../../base/errors.ts";
import { LONG_URL } from "./app.ts";
import { boundConnections, type ConnectionBounds } from "./connection-bounds.ts";
import { errorReply } from "./error-reply.ts";

/** The time that a reply may still take after the stop, before its connection is cut. The process has 9 s. */
export const GRACE_MS = 7000;
/** A request must have arrived completely by then, so that none holds a connection for ever. */
export const REQUEST_WITHIN_MS = 30_000;
/** Its head must have arrived by then: of a request that is never sent to its end, the head is held in memory. */
const HEAD_WITHIN_MS = 10_000;
/** The time between two looks at that. Node's default is as long as the time itself. */
const LOOK_EVERY_MS = 5000;
/** A connection on which nothing moves for this long is closed, so that a reader who stops does not hold a reply. */
const IDLE_MS = 120_000;
/** Of the path and all headers. Node's default, which a flag of Node could change. */
export const MAX_HEADER_BYTES = 16_384;

interface ServerOptions {
  app: Hono;
  host: string;
  port: number;
  /** @default 7000 */
  graceMs?: number;
  /** @default 0 */
  drainMs?: number;
  bounds?: ConnectionBounds;
}

/**
 * Serves an app on a port; 0 means a free one. After the stop connections that wait for a request stay open for `drainMs`: one
 * may be on its way. Throws ConfigError when the address cannot be used.
 */
export async function startServer(options: ServerOptions) {
  const { app, host, port, graceMs = GRACE_MS, drainMs = 0, bounds = {} } = options;
  const answer = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // HTTP/1.0 asks without a Host. No reply holds it.
    hostname: "localhost",
    errorHandler: (error) =>
      error instanceof RequestError
        ? errorReply(400, NO_ADDRESS)
        : errorReply(500, "docmirror has a fault that its log does not explain."),
  });
  const server = createServer(
    { maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: LOOK_EVERY_MS },
    answer,
  );
  // Node would refuse by 417, without a word, what a client expects. Nothing here depends on it.
  server.on("checkExpectation", answer);
  server.headersTimeout = HEAD_WITHIN_MS;
  server.requestTimeout = REQUEST_WITHIN_MS;
  server.timeout = IDLE_MS;
  // Node's default of 5 s is about the pause of a slow crawler, whose next request would meet the end of its connection.
  server.keepAliveTimeout = IDLE_MS;
  const drain = createDrain(server, drainMs, graceMs);
  boundConnections(server, bounds);
  answerUnread(server);
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const hint =
      "choose another one with --http-host and --http-port (DOCMIRROR_HTTP_HOST, DOCMIRROR_HTTP_PORT); port 0 means a free port";
    throw toListenError(error, { host, port, hint });
  }
  const { port: bound } = server.address() as AddressInfo;
  let closed: Promise<number> | undefined;

  return {
    /** The address it listens on, without a closing slash. */
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    /**
     * Takes no more connections, answers what runs for a while and cuts the rest: resolves to the number of connections that
     * were cut before their reply was sent to its end. May be called twice.
     */
    close(): Promise<number> {
      closed ??= drain();
      return closed;
    },
  };
}

const NO_ADDRESS =
  "The path or the Host of this request is no part of an address. Some characters need a percent sign.";

/** The time between two looks at the connections after the stop. */
const SWEEP_EVERY_MS = 100;
/** A turn of the event loop in which little else ran. */
const SHORT_TURN_MS = 1;
/** The longest wait for such a turn. */
const SHORT_TURN_WITHIN_MS = 500;

/**
 * Follows the connections of a server from its start. The function that it gives, to be called once, stops it without losing
 * a request: the port closes, what runs is answered, each reply says that its connection ends. A client may send the next
 * request at any moment, so connections wait for one until `drainMs` after the last reply; after `graceMs` all are cut.
 */
function createDrain(server: Server, drainMs: number, graceMs: number): () => Promise<number> {
  const connections = new Set<Socket>();
  /** The number that there ever were. */
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
    const since = quietSince;
    if (performance.now() - since < drainMs) return;
    // Bytes that arrived until now, also while the process was busy, are read in this turn: their connection is not idle any
    // more. The time must be judged before it, since a turn that is busy itself can outlast the drain with bytes unread.
    await nextTurn();
    if (quietSince !== since) return;
    server.closeIdleConnections();
    // The server calls one idle only after its first request.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  }

  return async () => {
    let cut = 0;
    const late = setTimeout(() => {
      cut = replies.size;
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

/** The time for which a client may go on sending. */
const LINGER_MS = 5000;
/** Long enough for the end of a request line. */
const KEPT_CHARACTERS = 16;

/** With what had arrived last, and how far the parser came in it. */
type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number };

/** A connection has the reply that it is sending. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/**
 * Answers requests that Node's parser gives up as errors are answered. Node writes a status without a word and closes, and a
 * client that is still sending loses even that to the reset of its connection: what it sends is read, for 5 s at most.
 */
function answerUnread(server: Server): void {
  const refused = new WeakSet<Socket>();
  server.on("clientError", ({ code, rawPacket, bytesParsed = 0 }: ParserError, socket: HttpSocket) => {
    // From Node 24 on the parser may complain of the rest, too.
    if (refused.has(socket)) return;
    if (code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    // The parser must not see the rest.
    socket.removeAllListeners("data").removeAllListeners("end").setTimeout(0);
    const late = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(late));
    const lineAt = (rawPacket?.lastIndexOf("\n", Math.max(0, bytesParsed - 1)) ?? -1) + 1;
    if (code === "HPE_HEADER_OVERFLOW")
      readLine(socket, rawPacket?.subarray(lineAt), (line) => refuse(socket, judgeLine(line)));
    else refuse(socket, code === "ERR_HTTP_REQUEST_TIMEOUT" ? LATE : NO_HTTP);
    socket.resume();
  });
}

type Refusal = readonly [status: number, sentence: string];
const LATE: Refusal = [408, "The request did not arrive in time."];
const NO_HTTP: Refusal = [400, "This is no request of HTTP/1.1."];
const LONG_HEADERS: Refusal = [431, "The headers of this request are too long."];

/** The path and the headers share one limit of the parser. The end of the line that met it says which one was too long. */
const judgeLine = (line: string): Refusal =>
  / HTTP\/\d\.\d\r?$/.test(line) ? [414, LONG_URL] : LONG_HEADERS;

/** Calls back with the end of the line that is being received. */
function readLine(socket: Socket, before: Buffer | undefined, then: (line: string) => void): void {
  let line = "";
  const read = (chunk: Buffer) => {
    const end = chunk.indexOf("\n");
    line = (line + chunk.toString("latin1", 0, end === -1 ? chunk.length : end)).slice(-KEPT_CHARACTERS);
    if (end === -1) return false;
    socket.off("data", read);
    then(line);
    return true;
  };
  if (before === undefined || !read(before)) socket.on("data", read);
}

function refuse(socket: Socket, [status, error]: Refusal): void {
  const body = JSON.stringify({ error });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Cache-Control: no-store",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

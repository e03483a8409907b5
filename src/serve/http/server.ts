import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Hono } from "hono";
import { toListenError } from "../../base/listen-error.ts";
import { type Cut, createDrain } from "./drain.ts";
import { errorReply } from "./error-reply.ts";
import { answerUnread } from "./unread-requests.ts";

/** How long a reply may still take after the stop, before its connection is cut. The process has 9 s. */
export const GRACE_MS = 7000;
/** A request must have arrived completely by then, so that none holds a connection for ever. */
export const REQUEST_WITHIN_MS = 30_000;
/** How often that is looked at. Node's default is as long as the time itself. */
const LOOK_EVERY_MS = 5000;
/** A connection on which nothing moves for this long is closed, so that a reader who stops does not hold a reply. */
const IDLE_MS = 120_000;
/** Node's default of 16 KiB would be full of the longest path (`request-bounds.ts`). */
export const MAX_HEADER_BYTES = 131_072;

export interface ServerOptions {
  app: Hono;
  host: string;
  /** 0 means a free port. */
  port: number;
  /** @default 7000 */
  graceMs?: number;
  /** How long connections that wait for a request stay open after the stop: one may be on its way. @default 0 */
  drainMs?: number;
}

/** Serves an app on a port. Throws ConfigError when the address cannot be used. */
export async function startServer({ app, host, port, graceMs = GRACE_MS, drainMs = 0 }: ServerOptions) {
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
  server.requestTimeout = REQUEST_WITHIN_MS;
  server.timeout = IDLE_MS;
  // Node's default of 5 s is about the pause of a slow crawler, whose next request would meet the end of its connection.
  server.keepAliveTimeout = IDLE_MS;
  const drain = createDrain(server, { drainMs, graceMs });
  answerUnread(server);
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw toListenError(error, { host, port, hint: LISTEN_HINT });
  }
  const { port: bound } = server.address() as AddressInfo;
  let closed: Promise<Cut> | undefined;

  return {
    /** The address it listens on, without a closing slash. */
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    /** Takes no more connections, answers what runs for a while and cuts the rest. May be called twice. */
    close(): Promise<Cut> {
      closed ??= drain();
      return closed;
    },
  };
}

const NO_ADDRESS =
  "The path or the Host of this request is no part of an address. Some characters need a percent sign.";

const LISTEN_HINT =
  "choose another one with --http-host and --http-port (DOCMIRROR_HTTP_HOST, DOCMIRROR_HTTP_PORT); port 0 means a free port";

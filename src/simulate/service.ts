import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createProtocol } from "../protocol/protocol.ts";
import type { World } from "./world.ts";

export interface SimulationOptions {
  world: World;
  /** @default "127.0.0.1" */
  host?: string;
  /** 0 takes a free one. @default 0 */
  port?: number;
  /** The wait before each reply. @default 0 */
  latencyMs?: number;
  /**
   * Stands before every request: answer it, let the service do so by `next()` (and change its reply), or cut the
   * connection without a reply by "hang up". `next` sees the world as it is when it is called.
   */
  intercept?: (
    request: Request,
    next: () => Promise<Response>,
  ) => Response | "hang up" | Promise<Response | "hang up">;
  /** Virtual milliseconds per real one; the world's clock stands still without it. @default 0 */
  speed?: number;
  /** How many bytes of ready replies are kept; 0 renders every reply anew. @default 64 MiB */
  cacheBytes?: number;
  /** Whether other characters than ASCII leave as \u escapes; the recorded service sent them raw. @default false */
  ascii?: boolean;
  /** Whether each request's arrival is kept, 8 bytes a request. @default false */
  recordArrivals?: boolean;
}

export interface RequestCounters {
  total: number;
  /** By path without its query, e.g. `/api/v1/build/`. */
  byPath: Map<string, number>;
  byStatus: Map<number, number>;
  /** Bytes sent, heads included. */
  bytes: number;
  /** The greatest number of requests under way at once. */
  peakInFlight: number;
  /** With `recordArrivals`, when each request came in: milliseconds of this process's `performance.now()`, ascending. */
  arrivalsMs: number[];
}

export interface Simulation {
  /** With the world's base path, without a closing slash: what `DOCMIRROR_BASE_URL` takes. */
  readonly url: string;
  /** What came in since the start or the last `resetRequests()`. */
  requests(): RequestCounters;
  resetRequests(): void;
  /** Stops listening and cuts open connections; safe to call twice. */
  close(): Promise<void>;
}

/** Puts a world on a port, where every reply's `Date` is of the world's time. Rejects with the socket's own error when the port cannot be had. */
export async function startSimulation(options: SimulationOptions): Promise<Simulation> {
  const { world, host = "127.0.0.1", port = 0, latencyMs = 0, intercept, speed = 0 } = options;
  const { basePath } = world.settings;
  const app = createProtocol({
    catalog: world.catalog(),
    basePath,
    ascii: options.ascii ?? false,
    cacheBytes: options.cacheBytes ?? 64 * 1024 * 1024,
  });
  const stopped = new AbortController();
  const startedAt = performance.now();
  const startedIn = world.now().getTime();
  let counters = createCounters();
  let inFlight = 0;

  /** Time need not pass while nobody looks: each request finds the world as old as it should be by then. */
  function dueTime(): Date {
    return speed > 0 ? new Date(startedIn + (performance.now() - startedAt) * speed) : world.now();
  }

  /** What the service's own clock shows, to the second. An interceptor may have moved the world on beyond what is due. */
  function clockShows(): string {
    const trueMs = Math.max(dueTime().getTime(), world.now().getTime());
    return new Date(trueMs + world.settings.clockOffsetMs).toUTCString();
  }

  async function answer(request: Request, env: HttpBindings): Promise<Response> {
    if (latencyMs > 0) {
      await delay(latencyMs, undefined, { signal: stopped.signal }).catch(() => {});
      if (stopped.signal.aborted) return RESPONSE_ALREADY_SENT;
    }
    const next = async (): Promise<Response> => {
      world.advanceTo(dueTime());
      return app.fetch(request);
    };
    const reply = intercept ? await intercept(request, next) : await next();
    if (reply === "hang up") {
      env.incoming.socket.destroy();
      return RESPONSE_ALREADY_SENT;
    }
    // A reply that an interceptor dated keeps its own.
    env.outgoing.setHeader("date", clockShows());
    return reply;
  }

  // The process's own Request and Response stay as they are: other parts of a test use them.
  const server = createAdaptorServer({
    fetch: (request, env) => answer(request, env as HttpBindings),
    overrideGlobalObjects: false,
  });

  function count(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url?.split("?", 1)[0] ?? "";
    counters.total++;
    if (options.recordArrivals) counters.arrivalsMs.push(performance.now());
    counters.byPath.set(path, (counters.byPath.get(path) ?? 0) + 1);
    counters.peakInFlight = Math.max(counters.peakInFlight, ++inFlight);
    const { socket } = request;
    const sentBefore = socket.bytesWritten;
    response.once("close", () => {
      inFlight--;
      counters.bytes += socket.bytesWritten - sentBefore;
      if (!response.headersSent) return;
      const { statusCode } = response;
      counters.byStatus.set(statusCode, (counters.byStatus.get(statusCode) ?? 0) + 1);
    });
  }

  server.prependListener("request", count);
  server.listen(port, host);
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}${basePath}`,
    requests: () => counters,
    resetRequests() {
      counters = createCounters();
    },
    async close() {
      if (stopped.signal.aborted) return;
      stopped.abort();
      const closed = once(server, "close");
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}

function createCounters(): RequestCounters {
  return { total: 0, byPath: new Map(), byStatus: new Map(), bytes: 0, peakInFlight: 0, arrivalsMs: [] };
}

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createProtocol, type Manners, RECORDED } from "../serve/protocol/protocol.ts";
import type { World } from "./world.ts";
import { pageReply } from "./world-pages.ts";

export interface SimulationOptions {
  world: World;
  /** @default "127.0.0.1" */
  host?: string;
  /** 0 means a free port. @default 0 */
  port?: number;
  /** The wait before each reply. @default 0 */
  latencyMs?: number;
  /**
   * Called before each request. It answers the request itself, lets the service answer by `next()` (and may
   * change the reply), or closes the connection without a reply by "hang up". `next` uses the state of the
   * world at its call.
   */
  intercept?: (
    request: Request,
    next: () => Promise<Response>,
  ) => Response | "hang up" | Promise<Response | "hang up">;
  /** Virtual milliseconds per real millisecond. Without it the world's clock stands still. @default 0 */
  speed?: number;
  /** The bytes of rendered replies that are cached. With 0 each reply is rendered again. @default 64 MiB */
  cacheBytes?: number;
  /** Its behaviour where the interface is not documented. @default RECORDED, as real services do */
  manners?: Manners;
}

/** Serves a world on a port, with `Date` in the world's time. Rejects with the socket's error where it cannot listen. */
export async function startSimulation(options: SimulationOptions) {
  const { world, host = "127.0.0.1", port = 0, latencyMs = 0, intercept, speed = 0 } = options;
  const { basePath } = world.settings;
  const app = createProtocol({
    catalog: world.catalog(),
    manners: options.manners ?? RECORDED,
    basePath,
    cacheBytes: options.cacheBytes ?? 64 * 1024 * 1024,
  });
  const stopped = new AbortController();
  const startedAt = performance.now();
  const startedIn = world.now().getTime();

  /** Time passes only when a request comes: it brings the world to the age that it should have by then. */
  function dueTime(): Date {
    return speed > 0 ? new Date(startedIn + (performance.now() - startedAt) * speed) : world.now();
  }

  /** The time on the service's clock. An interceptor may have moved the world beyond the time that is due. */
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
      const { pathname } = new URL(request.url);
      const path = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname;
      return path.startsWith("/docs/") ? pageReply(request, world.page(path)) : app.fetch(request);
    };
    const reply = intercept ? await intercept(request, next) : await next();
    if (reply === "hang up") {
      env.incoming.socket.destroy();
      return RESPONSE_ALREADY_SENT;
    }
    // A reply keeps the date that an interceptor set.
    env.outgoing.setHeader("date", clockShows());
    return reply;
  }

  // The global Request and Response of the process stay unchanged, because other parts of a test use them.
  const server = createAdaptorServer({
    fetch: (request, env) => answer(request, env as HttpBindings),
    overrideGlobalObjects: false,
  });

  // Node's default of 5 s is about the pause of a client on a busy machine, whose next request would meet the end.
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = 120_000;
  server.listen(port, host);
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;

  return {
    /** With the world's base path, without a closing slash, as `DOCMIRROR_BASE_URL` takes it. */
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}${basePath}`,
    server,
    /** Stops listening and cuts open connections. Safe to call twice. */
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

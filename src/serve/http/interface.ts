import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { createGate, type GateBounds } from "../../page/cache/gate.ts";
import { whileRead } from "../../page/cache/reader-gone.ts";
import type { Catalog } from "../protocol/catalog.ts";
import { MIRROR } from "../protocol/manners.ts";
import { createProtocol } from "../protocol/protocol.ts";
import { entityTags, lastModified } from "./conditional.ts";
import { failureReply, lateReply } from "./failure-reply.ts";
import { describeInterface } from "./openapi.ts";

/** Longer than a statement may take (`served-mirror.ts`), so that the database says first what is wrong. */
const ANSWER_WITHIN_MS = 15_000;
/** Rendered lists that are kept until their list changes. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Large pages that are made at once, so that they take few connections and turns from small replies. */
const LARGE_AT_ONCE: GateBounds = { atOnce: 2, waiting: 200, patienceMs: 10_000 };
/**
 * Shared caches give a reply again for some seconds, and an old one while they ask for a new one. Syncs bring changes no
 * faster than that. A sync that reads a mirror through a cache sees a replica that is half a minute behind.
 */
const CACHED = "max-age=5, stale-while-revalidate=30";
/** Which paths the interface has. */
export const INTERFACE_PATHS = ["/api/*", "/openapi.json"] as const;
const METHODS = "GET, HEAD, OPTIONS";

export interface InterfaceDeps {
  catalog: Catalog;
  clock: Clock;
  log: Logger;
}

/**
 * The service's interface over a catalog, below `/api/`, and its description at `/openapi.json`. Replies have
 * entity tags. A catalog that fails gives 503 or 500 with `{"error": sentence}`, and one that hangs gives 503
 * after 15 s.
 */
export function createInterface({ catalog, clock, log }: InterfaceDeps): Hono {
  const large = createGate(LARGE_AT_ONCE);
  const protocol = createProtocol({
    catalog,
    manners: MIRROR,
    cacheBytes: CACHE_BYTES,
    queueLarge: (make, signal) => large.pass(make, whileRead({ signal })),
    onFailure: (error, path, told) =>
      failureReply(error, path, told instanceof Object ? log.child(told) : log),
  });
  const description = JSON.stringify(describeInterface());
  const app = new Hono();

  /** What comes before the answer asks the database too, so it counts as well. */
  const inTime: MiddlewareHandler = async (c, next) => {
    const answered = new AbortController();
    const late = clock
      .sleep(ANSWER_WITHIN_MS, answered.signal)
      .then(() => lateReply(c.req.path, ANSWER_WITHIN_MS, log.child(requestOf(c))));
    try {
      return (await Promise.race([next(), late])) ?? undefined;
    } finally {
      answered.abort();
    }
  };

  /** HEAD is answered as GET, because tags and lengths come from the body. The server drops it at the end. */
  async function answer(c: Context): Promise<Response> {
    const request = c.req.raw;
    const { url, headers, signal } = request;
    const asked = request.method === "HEAD" ? new Request(url, { headers, signal }) : request;
    const reply = await protocol.fetch(asked, requestOf(c));
    // A cached error could look like a deletion. Without the header, caches keep 404 for minutes.
    reply.headers.set("cache-control", reply.status === 200 ? CACHED : "no-store");
    // The recorded service varies by Accept, which has no effect here.
    reply.headers.delete("vary");
    return reply;
  }

  app.use("/api/*", inTime, lastModified(catalog), entityTags());
  app.use("/openapi.json", entityTags());
  app.all("/api/*", (c) => answer(c));
  app.all("/openapi.json", (c) => {
    if (c.req.method === "OPTIONS") return c.body(null, 204, { allow: METHODS });
    if (!["GET", "HEAD"].includes(c.req.method)) return c.body(null, 405, { allow: METHODS });
    return c.body(description, 200, { "content-type": "application/json", "cache-control": CACHED });
  });
  app.onError((error, c) => failureReply(error, c.req.path, log.child(requestOf(c))));
  return app;
}

/** What each line of the log about a request has. */
function requestOf(c: Context): { request_id?: string } {
  const id: unknown = c.get("requestId");
  return typeof id === "string" ? { request_id: id } : {};
}

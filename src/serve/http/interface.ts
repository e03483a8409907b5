import { readFileSync } from "node:fs";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { etag, RETAINED_304_HEADERS } from "hono/etag";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { createGate, type GateBounds } from "../../page/cache/gate.ts";
import { whileRead } from "../../page/cache/single-flight.ts";
import { isResource, type Resource } from "../../resources/resources.ts";
import type { Catalog } from "../protocol/catalog.ts";
import { createProtocol, MIRROR } from "../protocol/protocol.ts";
import { failureReply, lateReply } from "./error-reply.ts";

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

/** The headers that a 304 has of the reply that it stands for (RFC 9110, section 15.4.5), for pages of other origins too. */
const KEPT = [
  ...RETAINED_304_HEADERS,
  "last-modified",
  "access-control-allow-origin",
  "access-control-expose-headers",
];

/**
 * The service's interface over a catalog, below `/api/`, and its description at `/openapi.json`. Replies have entity tags. A
 * catalog that fails gives 503 or 500 with `{"error": sentence}`, and one that hangs gives 503 after 15 s.
 */
export function createInterface(catalog: Catalog, clock: Clock, log: Logger): Hono {
  const large = createGate(LARGE_AT_ONCE);
  const protocol = createProtocol({
    catalog,
    manners: MIRROR,
    cacheBytes: CACHE_BYTES,
    queueLarge: (make, signal) => large.pass(make, whileRead({ signal })),
    onFailure: (error, path, told) =>
      failureReply(error, path, told instanceof Object ? log.child(told) : log),
  });
  const description = readFileSync(new URL("description/openapi.json", import.meta.url), "utf8");
  const app = new Hono();

  /** The steps before the answer ask the database too, so they count as well. */
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

  const tags = etag({ retainedHeaders: KEPT });
  app.use("/api/*", inTime, lastModified(catalog), tags);
  app.use("/openapi.json", tags);
  app.all("/api/*", (c) => answer(c));
  app.all("/openapi.json", (c) => {
    if (c.req.method === "OPTIONS") return c.body(null, 204, { allow: METHODS });
    if (!["GET", "HEAD"].includes(c.req.method)) return c.body(null, 405, { allow: METHODS });
    return c.body(description, 200, { "content-type": "application/json", "cache-control": CACHED });
  });
  app.onError((error, c) => failureReply(error, c.req.path, log.child(requestOf(c))));
  return app;
}

/** The facts in each line of the log about a request. */
function requestOf(c: Context): { request_id?: string } {
  const id: unknown = c.get("requestId");
  return typeof id === "string" ? { request_id: id } : {};
}

/** Below a list, the paths that are not those of a record. */
const NO_RECORDS = new Set(["schema", "search", "anchor"]);

/** Longer than a batch takes to be stored. */
const SETTLED_MS = 60_000;

/**
 * Sends the moment of a resource's data as `Last-Modified` with its lists and details, and answers 304 to a
 * client that has data of that moment (RFC 9110, sections 8.8.2 and 13.1.3). `If-None-Match` is more exact, so
 * `If-Modified-Since` counts only without it.
 */
function lastModified(catalog: Pick<Catalog, "lastModified">): MiddlewareHandler {
  return async (c, next) => {
    const resource = resourceOf(new URL(c.req.url).pathname);
    // Read before the reply: data that changes in between must look newer than the moment, never older.
    // The header counts whole seconds, and a change has its moment some time before it can be seen.
    const moment = resource && (await catalog.lastModified?.(resource, SETTLED_MS));
    await next();
    if (c.res.status !== 200 || moment === undefined) return;
    const seconds = Math.floor(moment.getTime() / 1000);
    c.res.headers.set("last-modified", new Date(seconds * 1000).toUTCString());
    if (c.req.header("if-none-match") !== undefined) return;
    const since = Date.parse(c.req.header("if-modified-since") ?? "");
    if (!(since >= seconds * 1000)) return;
    const headers = [...c.res.headers].filter(([name]) => KEPT.includes(name));
    // Hono would add the headers of the reply that is replaced.
    c.res = undefined;
    c.res = new Response(null, { status: 304, headers });
  };
}

/** The resource of a list or a detail. */
function resourceOf(path: string): Resource | undefined {
  const [, resource, key] = /^\/api\/v1\/([^/]+)(?:\/([^/]*))?\/?$/.exec(path) ?? [];
  if (resource === undefined || !isResource(resource)) return undefined;
  return key !== undefined && NO_RECORDS.has(key) ? undefined : resource;
}

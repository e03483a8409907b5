import { randomBytes } from "node:crypto";
import { isIP, isIPv4, isIPv6 } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../base/clock.ts";
import { isLoopback, readHostName } from "../../base/config/addresses.ts";
import type { Logger } from "../../base/log.ts";
import type { Catalog } from "../protocol/catalog.ts";
import { compression } from "./compression.ts";
import { errorReply } from "./error-reply.ts";
import { createInterface, INTERFACE_PATHS } from "./interface.ts";

export interface AppDeps {
  /** Answers every path that the interface does not have. */
  pages: Hono;
  /** The records that the interface answers with. @default the pages are all there is */
  catalog?: Catalog;
  /** The answers for supervisors, without limits. @default none */
  probes?: Hono;
  /** Answers `/metrics`, without a limit of rate. @default none */
  metrics?: Hono;
  /** The document of the mirror's state. @default none */
  status?: Hono;
  /** The names under which it answers, besides addresses and `localhost`. @default none */
  allowedHosts?: readonly string[];
  /** Requests a second that one client may send; 0 means no limit. @default 0 */
  ratePerSecond?: number;
  /** The origins whose pages may read the interface in a browser. @default null, none */
  origins?: Origins;
  clock: Clock;
  log: Logger;
}

/** All that the server answers. Each reply but a probe's passes the same rules: safety, rate, bounds, compression. */
export function createApp(deps: AppDeps): Hono {
  const { pages, catalog, probes, metrics, status, clock, log } = deps;
  const { allowedHosts = [], ratePerSecond = 0, origins = null } = deps;
  const app = new Hono();
  if (catalog !== undefined) app.use(belowPath(app, catalog, clock));
  app.use(accessLine(log), requestId(), securityHeaders(), checkHost(allowedHosts));
  // This comes before the limits, so that a page of another origin can read their refusals.
  for (const paths of INTERFACE_PATHS) app.use(paths, crossOrigin(origins));
  app.use(boundUrl(), boundBody());
  // A supervisor that is refused would end a process that is well.
  if (probes !== undefined) app.route("/", probes);
  // Readers may share the address of the scraper.
  if (metrics !== undefined) app.route("/", metrics);
  app.use(rateLimit(ratePerSecond), compression());
  if (status !== undefined) app.route("/", status);
  if (catalog !== undefined) app.route("/", createInterface(catalog, clock, log));
  app.route("/", pages);
  return app;
}

const BELOW = /^(\/.+?)(\/api\/v[12](?:\/.*)?)$/;
/** The mirror of a service that moved answers below the new path after this time. */
const KNOWN_FOR_MS = 10_000;
/** The longest wait of a request for the database to name the path. */
const WAIT_MS = 3000;

/**
 * Answers the interface below the path of the mirrored service too. Records name themselves and each other by
 * paths below it, and a program follows them (`docs/interface.md`, "What we chose"). The path is read at most
 * every 10 s. While the database is silent, the pages say what is wrong.
 */
function belowPath(app: Hono, catalog: Pick<Catalog, "basePath">, clock: Clock): MiddlewareHandler {
  let known: { path: Promise<string | undefined>; atMs: number } | undefined;

  function readPath(): Promise<string | undefined> {
    const atMs = clock.now().getTime();
    if (known === undefined || Math.abs(atMs - known.atMs) >= KNOWN_FOR_MS) {
      const answered = new AbortController();
      const late = clock.sleep(WAIT_MS, answered.signal).then(() => undefined);
      const path = Promise.race([catalog.basePath?.(), late]);
      known = { path: path.catch(() => undefined).finally(() => answered.abort()), atMs };
      late.catch(() => {});
    }
    return known.path;
  }

  return async (c, next) => {
    const url = new URL(c.req.url);
    const [, prefix, path] = BELOW.exec(url.pathname) ?? [];
    if (prefix === undefined || path === undefined || prefix !== (await readPath())) return next();
    url.pathname = path;
    return app.fetch(new Request(url, c.req.raw), c.env);
  };
}

/** The steps of each request before it is answered: its id and its line in the log, safety in browsers, bounds, the rate. */

const HEADER = "X-Request-Id";
/** Nothing else gets into the log and the reply. Most programs and proxies send a UUID. */
const HARMLESS = /^[\w.=-]{1,64}$/;

/**
 * Gives each request an id, as the variable `requestId` and in the header `X-Request-Id` of the reply: the one
 * that the client or a proxy sent, where it is harmless, else 12 random digits.
 */
function requestId(): MiddlewareHandler {
  return async (c, next) => {
    const sent = c.req.header(HEADER) ?? "";
    const id = HARMLESS.test(sent) ? sent : randomBytes(6).toString("hex");
    c.set("requestId", id);
    await next();
    c.res.headers.set(HEADER, id);
  };
}

/** Only a hostile request has a longer path. */
const MAX_PATH_LENGTH = 500;

/**
 * Logs each request at level debug once its reply was sent or its reader left, with the bytes of the body that
 * were sent. The path is without its query, which may hold a secret.
 */
function accessLine(log: Logger): MiddlewareHandler {
  return async (c, next) => {
    if (!log.isLevelEnabled("debug")) return next();
    const from = performance.now();
    await next();
    const { res: reply, req } = c;
    const write = (bytes: number) => {
      const path = new URL(req.url).pathname.slice(0, MAX_PATH_LENGTH);
      const facts = { request_id: c.get("requestId"), method: req.method, path };
      const duration_ms = Math.round(performance.now() - from);
      log.debug({ ...facts, status: reply.status, duration_ms, bytes }, "a request was answered");
    };
    if (reply.body === null || req.method === "HEAD") write(0);
    else c.res = new Response(counted(reply.body, write), reply);
  };
}

/** The same body, whose length is told at its end, or when its reader leaves. */
function counted(body: ReadableStream<Uint8Array>, onEnd: (bytes: number) => void) {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(sink) {
      const { done, value } = await reader.read();
      if (done) {
        onEnd(bytes);
        return sink.close();
      }
      bytes += value.byteLength;
      sink.enqueue(value);
    },
    async cancel(reason) {
      onEnd(bytes);
      await reader.cancel(reason);
    },
  });
}

/**
 * Headers for browsers: a reply is never framed, never guessed to be of another type, and loads nothing. The
 * pages set a policy of their own, which allows their style sheet. There is no Strict-Transport-Security: the
 * proxy that ends TLS decides that for its host.
 */
function securityHeaders(): MiddlewareHandler {
  return secureHeaders({
    contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    xFrameOptions: "DENY",
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    strictTransportSecurity: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    overwrite: false,
  });
}

const OTHER_HOST =
  "This server does not answer for the host name of this request. DOCMIRROR_HTTP_ALLOWED_HOSTS lists the names that it answers for.";

/**
 * Refuses by 421 a request for a host that is not ours. A web page can give its own name our address (DNS
 * rebinding), and its browser would then let it read every reply. That takes a name, so an address is
 * allowed, and `localhost`, and the names in `allowed`. `X-Forwarded-Host` does not count.
 */
function checkHost(allowed: readonly string[]): MiddlewareHandler {
  const names = new Set(["localhost", ...allowed.map(readHostName)]);
  const isOurs = (host: string) => {
    const name = readHostName(host);
    return name !== undefined && (isIP(name) !== 0 || names.has(name));
  };
  return async (c, next) => {
    // A request line may name another host than its header does.
    const { host } = new URL(c.req.url);
    if (isOurs(host) && isOurs(c.req.header("host") ?? host)) return next();
    return errorReply(421, OTHER_HOST);
  };
}

/** The origins whose pages may read the interface: some, any ("*"), or none (null). */
type Origins = "*" | readonly string[] | null;

/** A browser may keep the answer to its preflight for a day. */
const PREFLIGHT_SECONDS = 86_400;

/**
 * Lets the pages of other origins read replies in a browser (CORS, Fetch standard, section 3.2). Credentials
 * are never allowed: the interface has none. An OPTIONS that is no preflight is answered as without this.
 */
function crossOrigin(origins: Origins): MiddlewareHandler {
  if (origins === null) return (_c, next) => next();
  const answer = cors({
    origin: origins === "*" ? "*" : [...origins],
    allowMethods: ["GET", "HEAD", "OPTIONS"],
    exposeHeaders: ["ETag", "Last-Modified", "Retry-After", "X-Request-Id"],
    maxAge: PREFLIGHT_SECONDS,
  });
  return (c, next) => {
    const isPreflight = c.req.header("access-control-request-method") !== undefined;
    return c.req.method !== "OPTIONS" || isPreflight ? answer(c, next) : next();
  };
}

/** No path reads a body. Some programs send an empty JSON document with each request. */
export const MAX_BODY_BYTES = 1024;
/** No parameter of the interface needs more, and no slug that a service gives out. nginx and Apache take as much. */
export const MAX_URL_LENGTH = 8192;
export const LONG_URL = `This server takes no path of more than ${MAX_URL_LENGTH} characters.`;

/**
 * Refuses a request with a long body by 413, without reading it. A body of unknown length counts as long. The
 * connection is closed after the reply, because the rest of the body still fills it.
 */
function boundBody(): MiddlewareHandler {
  return async (c, next) => {
    const length = Number(c.req.header("content-length") ?? 0);
    const isUnknown = c.req.header("transfer-encoding") !== undefined;
    if (!isUnknown && length <= MAX_BODY_BYTES) return next();
    const sentence = `This server takes no body of more than ${MAX_BODY_BYTES} bytes.`;
    return errorReply(413, sentence, { connection: "close" });
  };
}

/** Refuses a request by 414 when its path and query are too long. */
function boundUrl(): MiddlewareHandler {
  return async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    return pathname.length + search.length <= MAX_URL_LENGTH ? next() : errorReply(414, LONG_URL);
  };
}

/** Answers 405 to any method that would change something. */
export function readOnly(): MiddlewareHandler {
  return async (c, next) => {
    const isReading = c.req.method === "GET" || c.req.method === "HEAD";
    return isReading ? next() : c.body(null, 405, { allow: "GET, HEAD" });
  };
}

/** More than a program needs that reads page after page, and less than a runaway loop sends. */
const USUAL_RATE = 100;

/** The rate where none is set. Only programs of this machine reach a loopback address, so it has no limit. */
export function usualRate(host: string): number {
  return isLoopback(host) ? 0 : USUAL_RATE;
}

/**
 * Answers 429 with `Retry-After` to a client that asks more often a second, and as often at once; 0 means no limit. A token
 * bucket for each address of a connection: `X-Forwarded-For` is not read, because any client can write it. Of more than
 * `clients` the one that was silent longest is forgotten.
 */
export function rateLimit(
  ratePerSecond: number,
  clients = 10_000,
  nowMs: () => number = () => performance.now(),
): MiddlewareHandler<{ Bindings: Partial<HttpBindings> }> {
  if (ratePerSecond === 0) return (_c, next) => next();
  const most = Math.max(1, ratePerSecond);
  const buckets = new LRUCache<string, { tokens: number; atMs: number }>({ max: clients });

  return async (c, next) => {
    // Requests of the program itself have no connection.
    const address = c.env?.incoming?.socket.remoteAddress;
    if (address === undefined) return next();
    const client = clientOf(address);
    const now = nowMs();
    const { tokens, atMs } = buckets.get(client) ?? { tokens: most, atMs: now };
    const left = Math.min(most, tokens + ((now - atMs) / 1000) * ratePerSecond) - 1;
    if (left >= 0) {
      buckets.set(client, { tokens: left, atMs: now });
      return next();
    }
    buckets.set(client, { tokens: left + 1, atMs: now });
    const seconds = Math.max(1, Math.ceil(-left / ratePerSecond));
    const sentence = `Too many requests. This server answers ${ratePerSecond} a second to each client.`;
    return errorReply(429, sentence, { "retry-after": String(seconds) });
  };
}

/** The client behind an address: one subscriber has all IPv6 addresses with the same first 64 bits (RFC 6177). */
export function clientOf(address: string): string {
  const bare = address.replace(/%.*$/, "");
  const mapped = bare.replace(/^::ffff:/i, "");
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(bare)) return bare;
  const [start = "", end] = bare.split("::");
  const groups = start === "" ? [] : start.split(":");
  const last = end === undefined || end === "" ? [] : end.split(":");
  while (groups.length + last.length < 8) groups.push("0");
  const network = [...groups, ...last].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}

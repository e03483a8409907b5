import { Hono, type MiddlewareHandler } from "hono";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Catalog } from "../protocol/catalog.ts";
import { compression } from "./compression.ts";
import { createInterface, INTERFACE_PATHS } from "./interface.ts";
import {
  accessLine,
  boundBody,
  boundUrl,
  checkHost,
  crossOrigin,
  type Origins,
  rateLimit,
  requestId,
  securityHeaders,
} from "./request-rules.ts";

export interface AppDeps {
  /** Answers every path that the interface does not have. */
  pages: Hono;
  /** The records that the interface answers with. @default the pages are all there is */
  catalog?: Catalog;
  /** What supervisors ask, without limits. @default none */
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
/** How long a request waits for the database to name the path. */
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

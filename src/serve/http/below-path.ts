import type { Hono, MiddlewareHandler } from "hono";
import type { Clock } from "../../base/clock.ts";
import type { Catalog } from "../protocol/catalog.ts";

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
export function belowPath(app: Hono, catalog: Pick<Catalog, "basePath">, clock: Clock): MiddlewareHandler {
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

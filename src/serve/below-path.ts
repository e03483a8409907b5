import type { Hono, MiddlewareHandler } from "hono";
import type { Catalog } from "../protocol/catalog.ts";

const BELOW = /^(\/.+?)(\/api\/v[12](?:\/.*)?)$/;

/**
 * Answers the interface below the path of the mirrored service too. Records name themselves and each other by
 * paths below it, and a program follows them (`docs/interface.md`, "What we chose").
 */
export function belowPath(app: Hono, catalog: Pick<Catalog, "basePath">): MiddlewareHandler {
  return async (c, next) => {
    const url = new URL(c.req.url);
    const [, prefix, path] = BELOW.exec(url.pathname) ?? [];
    if (prefix === undefined || path === undefined) return next();
    // While the database is away nothing is known of the path. The pages say then what is wrong.
    const basePath = await catalog.basePath?.().catch(() => undefined);
    if (prefix !== basePath) return next();
    url.pathname = path;
    return app.fetch(new Request(url, c.req.raw), c.env);
  };
}

import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

/** The origins whose pages may read the interface: some, any ("*"), or none (null). */
export type Origins = "*" | readonly string[] | null;

/** A browser may keep the answer to its preflight for a day. */
const PREFLIGHT_SECONDS = 86_400;

/**
 * Lets the pages of other origins read replies in a browser (CORS, Fetch standard, section 3.2). Credentials
 * are never allowed: the interface has none. An OPTIONS that is no preflight is answered as without this.
 */
export function crossOrigin(origins: Origins): MiddlewareHandler {
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

import type { MiddlewareHandler } from "hono";

const METHODS = ["GET", "HEAD"];

/** Answers 405 to any method that would change something. */
export function readOnly(): MiddlewareHandler {
  return async (c, next) => {
    if (METHODS.includes(c.req.method)) return next();
    return c.body(null, 405, { allow: METHODS.join(", ") });
  };
}

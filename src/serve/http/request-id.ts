import { randomBytes } from "node:crypto";
import type { MiddlewareHandler } from "hono";

const HEADER = "X-Request-Id";
/** Nothing else gets into the log and the reply, whatever a client sends. Most programs and proxies send a UUID. */
const HARMLESS = /^[\w.=-]{1,64}$/;

/**
 * Gives each request an id, as the variable `requestId` and in the header `X-Request-Id` of the reply: the one
 * that the client or a proxy sent, where it is harmless, else 12 random digits.
 */
export function requestId(): MiddlewareHandler {
  return async (c, next) => {
    const sent = c.req.header(HEADER) ?? "";
    const id = HARMLESS.test(sent) ? sent : randomBytes(6).toString("hex");
    c.set("requestId", id);
    await next();
    c.res.headers.set(HEADER, id);
  };
}

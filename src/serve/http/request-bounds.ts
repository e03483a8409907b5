import type { MiddlewareHandler } from "hono";
import { errorReply } from "./error-reply.ts";

/** No path reads a body. Some programs send an empty JSON document with each request. */
export const MAX_BODY_BYTES = 1024;
/** No parameter of the interface needs more, and no slug that a service gives out. */
export const MAX_URL_LENGTH = 16_384;
export const LONG_URL = `This server takes no path of more than ${MAX_URL_LENGTH} characters.`;

/**
 * Refuses a request with a long body by 413, without reading it. A body of unknown length counts as long. The
 * connection is closed after the reply, because the rest of the body still fills it.
 */
export function boundBody(): MiddlewareHandler {
  return async (c, next) => {
    const length = Number(c.req.header("content-length") ?? 0);
    const isUnknown = c.req.header("transfer-encoding") !== undefined;
    if (!isUnknown && length <= MAX_BODY_BYTES) return next();
    return errorReply(413, `This server takes no body of more than ${MAX_BODY_BYTES} bytes.`, {
      connection: "close",
    });
  };
}

/** Refuses a request by 414 when its path and query are too long. */
export function boundUrl(): MiddlewareHandler {
  return async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    return pathname.length + search.length <= MAX_URL_LENGTH ? next() : errorReply(414, LONG_URL);
  };
}

const READING = ["GET", "HEAD"];

/** Answers 405 to any method that would change something. */
export function readOnly(): MiddlewareHandler {
  return async (c, next) => {
    if (READING.includes(c.req.method)) return next();
    return c.body(null, 405, { allow: READING.join(", ") });
  };
}

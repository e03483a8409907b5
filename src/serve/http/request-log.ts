import { randomBytes } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { Logger } from "../../base/log.ts";

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

/** Only a hostile request has a longer path. */
const MAX_PATH_LENGTH = 500;

/**
 * Logs each request at level debug once its reply was sent or its reader left, with the bytes of the body that
 * were sent. The path is without its query, which may hold a secret.
 */
export function accessLine(log: Logger): MiddlewareHandler {
  return async (c, next) => {
    if (!log.isLevelEnabled("debug")) return next();
    const from = performance.now();
    await next();
    const { res: reply, req } = c;
    const write = (bytes: number) => {
      const facts = { request_id: c.get("requestId"), method: req.method, path: shownPath(req.url) };
      const duration_ms = Math.round(performance.now() - from);
      log.debug({ ...facts, status: reply.status, duration_ms, bytes }, "a request was answered");
    };
    if (reply.body === null || req.method === "HEAD") write(0);
    else c.res = new Response(counted(reply.body, write), reply);
  };
}

/** The path of a request for a line of the log. */
function shownPath(url: string): string {
  return new URL(url).pathname.slice(0, MAX_PATH_LENGTH);
}

/** The same body, whose length is told at its end, or when its reader leaves. */
function counted(
  body: ReadableStream<Uint8Array>,
  onEnd: (bytes: number) => void,
): ReadableStream<Uint8Array> {
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

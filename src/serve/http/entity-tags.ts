import { createHash } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { notModified } from "./not-modified.ts";

/**
 * Gives each whole reply with status 200 an entity tag, a hash of its body before compression, and answers
 * 304 without a body to a client that has it (RFC 9110, sections 8.8.3 and 13.1.2). A tag that a handler has
 * set stays. Reads the whole body, so it is not for streams.
 */
export function entityTags(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    if (c.res.status !== 200) return;
    let reply = c.res;
    if (!reply.headers.has("etag")) {
      const body = new Uint8Array(await reply.arrayBuffer());
      reply = new Response(body, reply);
      reply.headers.set("etag", `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`);
    }
    const isKnown = hasTag(c.req.header("if-none-match"), reply.headers.get("etag") ?? "");
    // Hono would add the headers of the reply that is replaced.
    c.res = undefined;
    c.res = isKnown ? notModified(reply) : reply;
  };
}

/**
 * Whether the value of an If-None-Match names this tag. Tags are compared weakly: `W/` makes no difference. A
 * star stands for any tag.
 */
export function hasTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const wanted = etag.replace(/^W\//, "");
  // A tag may hold commas, so the list cannot be split at them.
  return ifNoneMatch.match(/"[^"]*"/g)?.includes(wanted) ?? false;
}

/** What a client has already is answered by 304: by the entity tag of a reply, or by the moment of its data. */
import type { MiddlewareHandler } from "hono";
import { entityTagOf } from "../../base/entity-tag.ts";
import { isResource, type Resource } from "../../resources/resources.ts";
import type { Catalog } from "../protocol/catalog.ts";

/**
 * Gives each whole reply with status 200 an entity tag, a hash of its body before compression, and answers
 * 304 without a body to a client that has it (RFC 9110, sections 8.8.3 and 13.1.2). A tag that a handler has
 * set stays, which saves copies of a long body. Reads the whole body else, so it is not for streams.
 */
export function entityTags(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    if (c.res.status !== 200) return;
    let reply = c.res;
    if (!reply.headers.has("etag")) {
      const body = new Uint8Array(await reply.arrayBuffer());
      reply = new Response(body, reply);
      reply.headers.set("etag", entityTagOf(body));
    }
    const isKnown = hasTag(c.req.header("if-none-match"), reply.headers.get("etag") ?? "");
    // Hono would add the headers of the reply that is replaced.
    c.res = undefined;
    c.res = isKnown ? notModified(reply) : reply;
  };
}

/** Whether an If-None-Match names this tag. `W/` makes no difference. A star stands for any tag. */
export function hasTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const wanted = etag.replace(/^W\//, "");
  // A tag may hold commas, so the list cannot be split at them.
  return ifNoneMatch.match(/"[^"]*"/g)?.includes(wanted) ?? false;
}

/** Below a list, the paths that are not those of a record. */
const NO_RECORDS = new Set(["schema", "search", "anchor"]);

/** Longer than a batch takes to be stored. */
const SETTLED_MS = 60_000;

/**
 * Sends the moment of a resource's data as `Last-Modified` with its lists and details, and answers 304 to a
 * client that has data of that moment (RFC 9110, sections 8.8.2 and 13.1.3). `If-None-Match` is more exact, so
 * `If-Modified-Since` counts only without it.
 */
export function lastModified(catalog: Pick<Catalog, "lastModified">): MiddlewareHandler {
  return async (c, next) => {
    const resource = resourceOf(new URL(c.req.url).pathname);
    // Read before the reply: data that changes in between must look newer than the moment, never older.
    // The header counts whole seconds, and a change has its moment some time before it can be seen.
    const moment = resource && (await catalog.lastModified?.(resource, SETTLED_MS));
    await next();
    if (c.res.status !== 200 || moment === undefined) return;
    const seconds = Math.floor(moment.getTime() / 1000);
    c.res.headers.set("last-modified", new Date(seconds * 1000).toUTCString());
    if (c.req.header("if-none-match") !== undefined) return;
    const since = Date.parse(c.req.header("if-modified-since") ?? "");
    if (!(since >= seconds * 1000)) return;
    const reply = notModified(c.res);
    // Hono would add the headers of the reply that is replaced.
    c.res = undefined;
    c.res = reply;
  };
}

/** The resource of a list or a detail. */
function resourceOf(path: string): Resource | undefined {
  const [, resource, key] = /^\/api\/v1\/([^/]+)(?:\/([^/]*))?\/?$/.exec(path) ?? [];
  if (resource === undefined || !isResource(resource)) return undefined;
  return key !== undefined && NO_RECORDS.has(key) ? undefined : resource;
}

/** What a 304 says of the reply that it stands for (RFC 9110, section 15.4.5). */
const KEPT = /^(?:cache-control|date|etag|expires|last-modified|vary|access-control-.*)$/;

/** The 304 in place of a reply that the client already has. It has no body, and no header that describes one. */
function notModified(reply: Response): Response {
  const headers = [...reply.headers].filter(([name]) => KEPT.test(name));
  return new Response(null, { status: 304, headers });
}

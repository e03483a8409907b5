import type { MiddlewareHandler } from "hono";
import { isResource, type Resource } from "../../resources/resources.ts";
import type { Catalog } from "../protocol/catalog.ts";
import { notModified } from "./not-modified.ts";

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

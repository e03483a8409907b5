import { type Context, Hono } from "hono";
import { LRUCache } from "lru-cache";
import { isResource, RESOURCES, type Resource, type RootListing } from "../wire/resources.ts";
import type { Catalog, Filter } from "./catalog.ts";
import { describeDocHits } from "./doc-search-reply.ts";
import { readFilters } from "./filters.ts";
import { describePage, readPage } from "./paging.ts";
import { Refusal } from "./refusal.ts";
import { renderJson } from "./render.ts";
import { describeSchema } from "./schema-reply.ts";

export interface ProtocolOptions {
  catalog: Catalog;
  /** A path before `/api`, without a closing slash. @default "" */
  basePath?: string;
  /**
   * Whether characters outside ASCII are sent as \u escapes. The recorded service sent them raw.
   * @default false
   */
  ascii?: boolean;
  /** How many bytes of rendered list replies are cached, for catalogs that have `revision`. @default 0 */
  cacheBytes?: number;
  /** The reply when the catalog fails. @default 500 with `error_message`, as the framework sends it */
  onFailure?: (error: Error, path: string) => Response;
}

const LIST_PATH = /^\/api\/v1\/([^/]+)\/$/;
const BELOW_LIST_PATH = /^\/api\/v1\/([^/]+)\/([^/]+)\/$/;

/**
 * The whole interface of `docs/interface.md` over a catalog: routes, envelopes, refusals. Where the interface
 * is not documented, such as for errors, it follows the recorded service. Details are answered with the
 * closing slash only, and a path without it is sent there. JSON comes whatever `format` and `Accept` ask for.
 */
export function createProtocol(options: ProtocolOptions): Hono {
  const { catalog, basePath = "", ascii = false, cacheBytes = 0 } = options;
  const apiPath = `${basePath}/api/v1`;
  const cache = new LRUCache<string, { revision: string; reply: Buffer }>({
    // For this cache 0 would mean no limit. No reply is as short as one byte.
    maxSize: Math.max(1, cacheBytes),
    sizeCalculation: ({ reply }) => reply.length,
  });

  async function answerRoot(): Promise<Response> {
    const listing: RootListing = {};
    for (const resource of RESOURCES) {
      listing[resource] = {
        list_endpoint: `${apiPath}/${resource}/`,
        schema: `${apiPath}/${resource}/schema/`,
      };
    }
    return json(listing);
  }

  async function answerList(
    resource: Resource,
    url: URL,
    conditions: readonly Filter[] = [],
  ): Promise<Response> {
    const revision = catalog.revision?.(resource);
    const key = url.pathname + url.search;
    const ready = cache.get(key);
    if (ready && ready.revision === revision) return jsonBytes(ready.reply);
    const page = readPage(url.searchParams);
    const filters = [...conditions, ...readFilters(resource, url.searchParams)];
    const { records, totalCount } = await catalog.list(resource, { filters, ...page });
    const meta = describePage(`${apiPath}/${resource}/`, url.searchParams, page, totalCount);
    const reply = renderJson({ meta, objects: records }, ascii);
    // The content may have changed while the catalog was read. Then the revision of this reply is unknown.
    if (revision !== undefined && catalog.revision?.(resource) === revision)
      cache.set(key, { revision, reply });
    return jsonBytes(reply);
  }

  async function answerDetail(resource: Resource, key: string, url: URL): Promise<Response> {
    // A key of digits is an id, even if a slug looks the same (`docs/interface.md`, "Details").
    if (/^\d+$/.test(key)) {
      const record = await catalog.find(resource, key);
      return record ? json(record) : notFound();
    }
    switch (resource) {
      case "build":
      case "version":
        return answerList(resource, url, [{ field: "project__slug", value: key }]);
      case "project":
        return answerOnly(resource, { field: "slug", value: key });
      case "user":
        return answerOnly(resource, { field: "username", value: key });
      case "file":
        return notFound();
    }
  }

  async function answerOnly(resource: Resource, filter: Filter): Promise<Response> {
    const { records } = await catalog.list(resource, { filters: [filter], offset: 0, limit: 1 });
    return records[0] ? json(records[0]) : notFound();
  }

  async function answerSchema(resource: Resource): Promise<Response> {
    return json((await catalog.schema?.(resource)) ?? describeSchema(resource, apiPath));
  }

  async function answerDocSearch(url: URL): Promise<Response> {
    const project = url.searchParams.get("project");
    const q = url.searchParams.get("q");
    if (!project || !q) return json({ error: "Need project and q" }, 400);
    // The documentation calls `version` required, but the recorded refusal does not name it: `latest` is the
    // default.
    const version = url.searchParams.get("version") || "latest";
    const found = await catalog.searchDocs({ project, version, q });
    return found ? json(describeDocHits(found)) : json({ error: "Project not found" }, 404);
  }

  /** The answer for a path below the base path, or undefined when the path is unknown. */
  function route(path: string, url: URL): (() => Promise<Response>) | undefined {
    if (path === "/api/v1/") return answerRoot;
    if (path === "/api/v2/docsearch/") return () => answerDocSearch(url);
    const list = LIST_PATH.exec(path)?.[1];
    if (list !== undefined) return isResource(list) ? () => answerList(list, url) : undefined;
    const [, resource, encodedKey] = BELOW_LIST_PATH.exec(path) ?? [];
    if (resource === undefined || encodedKey === undefined || !isResource(resource)) return undefined;
    const key = decode(encodedKey);
    if (key === "schema") return () => answerSchema(resource);
    if (resource === "file" && (key === "search" || key === "anchor")) {
      const q = url.searchParams.get("q")?.trim() ?? "";
      if (q === "") return async () => json({ objects: [] });
      return async () =>
        json({ objects: await (key === "search" ? catalog.searchFiles(q) : catalog.searchAnchors(q)) });
    }
    return () => answerDetail(resource, key, url);
  }

  async function answer(c: Context): Promise<Response> {
    const url = new URL(c.req.url);
    const method = c.req.raw.method;
    if (basePath !== "" && !url.pathname.startsWith(`${basePath}/`)) return unknownPath();
    const path = url.pathname.slice(basePath.length);
    const found = route(path, url);
    if (!found) {
      if (path.endsWith("/") || !route(`${path}/`, url)) return unknownPath();
      return empty(301, { location: `${url.pathname}/${url.search}` });
    }
    if (method !== "GET") return refuseMethod(method, path.startsWith("/api/v2/") ? "OPTIONS, GET" : "GET");
    return found();
  }

  function json(body: unknown, status = 200): Response {
    return jsonBytes(renderJson(body, ascii), status);
  }

  const app = new Hono();
  app.all("*", answer);
  app.onError((error, c) => {
    if (error instanceof Refusal) return json({ error: escapeHtml(error.message) }, 400);
    if (options.onFailure) return options.onFailure(error, new URL(c.req.url).pathname);
    return json(
      { error_message: "Sorry, this request could not be processed. Please try again later." },
      500,
    );
  });
  return app;
}

function jsonBytes(body: Buffer, status = 200): Response {
  return new Response(new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength), {
    status,
    headers: {
      "content-type": "application/json",
      "content-length": String(body.length),
      vary: "Accept",
      "cache-control": "no-cache",
    },
  });
}

function empty(status: number, headers: Record<string, string> = {}): Response {
  return new Response(null, {
    status,
    headers: { "content-type": "text/html; charset=utf-8", "content-length": "0", ...headers },
  });
}

function notFound(): Response {
  return empty(404);
}

/** OPTIONS lists the methods. Any other method than GET is refused, HEAD too. */
function refuseMethod(method: string, allow: string): Response {
  return empty(method === "OPTIONS" ? 200 : 405, { allow });
}

function unknownPath(): Response {
  const page =
    '\n<!doctype html>\n<html lang="en">\n<head>\n  <title>Not Found</title>\n</head>\n<body>\n  <h1>Not Found</h1>' +
    "<p>The requested resource was not found on this server.</p>\n</body>\n</html>\n";
  return new Response(page, { status: 404, headers: { "content-type": "text/html" } });
}

/** Quotes are not escaped, as in the recorded refusals. */
function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

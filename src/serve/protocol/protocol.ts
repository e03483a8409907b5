import { type Context, Hono } from "hono";
import { LRUCache } from "lru-cache";
import { entityTagOf } from "../../base/entity-tag.ts";
import { DECLARATIONS, isResource, RESOURCES, type Resource } from "../../resources/resources.ts";
import { type Catalog, type Filter, Refusal } from "./catalog.ts";
import { decode, type FilterRule, readFilters, refuseOrdering } from "./filters.ts";
import { createPageSizes, describePage, readPaging, readSearchPage } from "./paging.ts";
import { describeSchema, docSearchReply, renderJson, renderPage } from "./replies.ts";

/** The behaviour of a server where the interface is not documented (`docs/interface.md`, "What we chose"). */
export interface Manners {
  /** A path without its closing slash: redirected to the path with it, or answered as if it had it. */
  closingSlash: "redirect" | "optional";
  /** Only GET is allowed, or HEAD and OPTIONS too. */
  methods: "GET" | "GET, HEAD, OPTIONS";
  filters: FilterRule;
  /** Another `format` than `json` has no effect or is refused. */
  format: "ignored" | "json only";
  /** The `next` of a list that was asked for by a project's slug in its path keeps that project, or does not. */
  nextKeepsProject: boolean;
  /** A key of digits that is no id is read as a slug. */
  slugsOfDigits: boolean;
  /** Replies have an `ETag`. */
  hasTags: boolean;
}

/** The recorded service. The simulated one behaves like it, so that the mirror meets a real server's habits. */
export const RECORDED: Manners = {
  closingSlash: "redirect",
  methods: "GET",
  filters: "declared",
  format: "ignored",
  nextKeepsProject: false,
  slugsOfDigits: false,
  hasTags: false,
};

/** The mirror. It answers all that the recorded service answers, and more where that one refuses or forgets. */
export const MIRROR: Manners = {
  closingSlash: "optional",
  methods: "GET, HEAD, OPTIONS",
  filters: "every field",
  format: "json only",
  nextKeepsProject: true,
  slugsOfDigits: true,
  hasTags: true,
};

interface ProtocolOptions {
  catalog: Catalog;
  /** @default RECORDED */
  manners?: Manners;
  /** A path before `/api`, without a closing slash. @default "" */
  basePath?: string;
  /** The bytes of rendered list replies that are cached, for catalogs that have `revision`. @default 0 */
  cacheBytes?: number;
  /**
   * Makes a large page when it is its turn, so that small replies do not wait for large ones. The signal is that of the
   * request. @default at once
   */
  queueLarge?: <T>(make: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  /**
   * The reply when the catalog fails. `told` is what the caller of `fetch` passed along with the request.
   * @default 500 with `error_message`, as the framework sends it
   */
  onFailure?: (error: Error, path: string, told: unknown) => Response;
}

/**
 * The interface of `docs/interface.md` over any catalog: the simulated service and the mirror answer by it. Errors look like
 * the recorded service's, and JSON comes whatever `Accept` asks for.
 */
export function createProtocol(options: ProtocolOptions): Hono {
  const { catalog, manners = RECORDED, basePath = "", cacheBytes = 0 } = options;
  const { queueLarge = (make) => make() } = options;
  const sizes = createPageSizes();
  const apiPath = `${basePath}/api/v1`;
  const cache = new LRUCache<string, { revision: string; reply: Buffer; etag: string }>({
    // For this cache 0 would mean no limit. No reply is as short as one byte.
    maxSize: Math.max(1, cacheBytes),
    // The address counts too: it may be a hundred times as long as an empty list.
    sizeCalculation: ({ reply }, address) => reply.length + address.length,
  });

  async function answerRoot(): Promise<Response> {
    const endpoints = RESOURCES.map((resource) => {
      const path = `${apiPath}/${resource}/`;
      return [resource, { list_endpoint: path, schema: `${path}schema/` }];
    });
    return json(Object.fromEntries(endpoints));
  }

  /** A list. With `only` it has just these records, as where the path holds the slug of their project. */
  async function answerList(resource: Resource, { url, signal }: Request, only?: Filter & { value: string }) {
    const { pathname, search, searchParams } = new URL(url);
    const key = pathname + search;
    const ready = cache.get(key);
    if (ready && ready.revision === (await catalog.revision?.(resource))) return jsonBytes(ready);
    const query = new URLSearchParams(searchParams);
    const filters = readFilters(resource, query, manners.filters);
    refuseOrdering(resource, query);
    const page = readPaging(query);
    if (only) {
      filters.push(only);
      if (manners.nextKeepsProject) query.set(only.path.join("__"), only.value);
    }
    const make = async () => {
      const { records, totalCount, revision } = await catalog.list(resource, { filters, ...page });
      const meta = describePage(`${apiPath}/${resource}/`, query, page, totalCount);
      const reply = await renderPage(meta, records);
      sizes.note(resource, records.length, reply.length);
      const etag = entityTagOf(reply);
      if (revision !== undefined) cache.set(key, { revision, reply, etag });
      return jsonBytes({ reply, etag });
    };
    return sizes.isLarge(resource, page.limit) ? queueLarge(make, signal) : make();
  }

  async function answerDetail(resource: Resource, key: string, asked: Request): Promise<Response> {
    // A key of digits is an id, even if a slug looks the same (`docs/internals/service.md`, "Details").
    const isNumber = /^\d+$/.test(key);
    if (isNumber || manners.slugsOfDigits) {
      const record = await catalog.find(resource, key);
      if (record) return json(record);
      if (isNumber && !manners.slugsOfDigits) return empty(404);
    }
    const { foundBy, listedBy } = DECLARATIONS[resource];
    if (foundBy) {
      const record = await findFirst(resource, { path: [foundBy], value: key });
      return record ? json(record) : empty(404);
    }
    if (!listedBy) return empty(404);
    const only = { path: [listedBy, "slug"], value: key };
    if (isNumber && !(await findFirst(resource, only))) return empty(404);
    return answerList(resource, asked, only);
  }

  async function findFirst(resource: Resource, filter: Filter): Promise<unknown> {
    const { records } = await catalog.list(resource, { filters: [filter], offset: 0, limit: 1 });
    return records[0];
  }

  async function answerFileSearch(kind: "search" | "anchor", query: URLSearchParams): Promise<Response> {
    const q = query.get("q")?.trim() ?? "";
    if (kind === "anchor") return json({ objects: q === "" ? [] : await catalog.searchAnchors(q) });
    const page = readSearchPage(query);
    return json({ objects: q === "" ? [] : await catalog.searchFiles({ q, page }) });
  }

  async function answerDocSearch(query: URLSearchParams): Promise<Response> {
    const project = query.get("project");
    const q = query.get("q");
    if (!project || !q) return json({ error: "Need project and q" }, 400);
    // The documentation calls it required, but the recorded refusal does not name it.
    const version = query.get("version") || "latest";
    const found = await catalog.searchDocs({ project, version, q });
    return found ? json(docSearchReply(found)) : json({ error: "Project not found" }, 404);
  }

  /** The answer for a path below the base path, or undefined when the path is unknown. */
  function route(path: string, asked: Request, query: URLSearchParams) {
    const segments = path.split("/").map(decode);
    // A path that starts and ends with a slash has an empty segment at each end.
    if (segments.shift() !== "" || segments.pop() !== "") return undefined;
    const [api, version, resource, key, ...rest] = segments;
    if (api !== "api" || rest.length > 0) return undefined;
    if (version === "v2")
      return resource === "docsearch" && key === undefined ? () => answerDocSearch(query) : undefined;
    if (version !== "v1") return undefined;
    if (resource === undefined) return answerRoot;
    if (!isResource(resource)) return undefined;
    if (key === undefined) return () => answerList(resource, asked);
    if (key === "") return undefined;
    if (key === "schema")
      return async () => json((await catalog.schema?.(resource)) ?? describeSchema(resource, apiPath));
    if (resource === "file" && (key === "search" || key === "anchor"))
      return () => answerFileSearch(key, query);
    return () => answerDetail(resource, key, asked);
  }

  async function answer(c: Context): Promise<Response> {
    const url = new URL(c.req.url);
    const asked = c.req.raw;
    const { method } = asked;
    if (basePath !== "" && !url.pathname.startsWith(`${basePath}/`)) return unknownPath();
    const path = url.pathname.slice(basePath.length);
    const isClosed = path.endsWith("/");
    const find = (path: string) => route(path, asked, url.searchParams);
    const found = find(path) ?? (isClosed ? undefined : find(`${path}/`));
    if (!found) return unknownPath();
    if (!isClosed && manners.closingSlash === "redirect")
      return empty(301, { location: `${url.pathname}/${url.search}` });
    if (manners.methods === "GET") {
      // OPTIONS lists the methods. Any other method than GET is refused, HEAD too.
      const allow = path.startsWith("/api/v2/") ? "OPTIONS, GET" : "GET";
      if (method !== "GET") return empty(method === "OPTIONS" ? 200 : 405, { allow });
    } else {
      const allow = manners.methods;
      if (method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
      if (method !== "GET" && method !== "HEAD") return empty(405, { allow });
    }
    if (manners.format === "json only") assertJson(url.searchParams);
    return found();
  }

  function json(body: unknown, status = 200): Response {
    const reply = renderJson(body);
    return jsonBytes({ reply, etag: entityTagOf(reply) }, status);
  }

  function jsonBytes({ reply, etag }: { reply: Buffer; etag: string }, status = 200): Response {
    return new Response(new Uint8Array(reply.buffer as ArrayBuffer, reply.byteOffset, reply.byteLength), {
      status,
      headers: {
        "content-type": "application/json",
        "content-length": String(reply.length),
        vary: "Accept",
        "cache-control": "no-cache",
        ...(manners.hasTags && status === 200 ? { etag } : {}),
      },
    });
  }

  const app = new Hono();
  app.all("*", answer);
  app.onError((error, c) => {
    if (error instanceof Refusal) return json({ error: escapeHtml(error.message) }, 400);
    if (options.onFailure) return options.onFailure(error, new URL(c.req.url).pathname, c.env);
    const error_message = "Sorry, this request could not be processed. Please try again later.";
    return json({ error_message }, 500);
  });
  return app;
}

function empty(status: number, headers: Record<string, string> = {}): Response {
  return new Response(null, {
    status,
    headers: { "content-type": "text/html; charset=utf-8", "content-length": "0", ...headers },
  });
}

/** Several values of `format` are read as their last one, like those of every parameter. */
function assertJson(query: URLSearchParams): void {
  const format = query.getAll("format").at(-1) ?? "json";
  if (format !== "json") throw new Refusal(`Invalid format '${format}' provided. Only 'json' is available.`);
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

import { ConfigError } from "../base/errors.ts";
import type { Client, FetchOptions } from "../mirror/api/client.ts";
import type { PageRequest } from "../resources/page-request.ts";
import type { Resource } from "../resources/resources.ts";
import type { ServiceClientOptions } from "./client-options.ts";
import {
  anchorSearchPath,
  docSearchPath,
  fileSearchPath,
  listPath,
  queryText,
  recordPath,
  schemaPath,
} from "./endpoint-path.ts";
import { fetchRecord, fetchRoot, throwNoRecord } from "./fetch-record.ts";
import { listPages } from "./list-pages.ts";
import { parseDocHits } from "./parse-doc-hits.ts";
import { type ListPage, parseObjects, parsePage } from "./parse-page.ts";
import { parseFileHit, parseRecord } from "./parse-record.ts";
import { parseSchema } from "./parse-schema.ts";
import type { RecordOf } from "./records.ts";
import type { CallOptions, Filters, ListQuery, ServiceClient } from "./service-client.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

/** The functions of a service over a client of requests that is there already. */
export function serviceClientOver(
  client: Client,
  { allowOddFields = false }: Pick<ServiceClientOptions, "allowOddFields"> = {},
): ServiceClient {
  const { baseUrl } = client;

  async function ask<T>(
    path: string,
    parse: FetchOptions<T>["parse"],
    { signal }: CallOptions = {},
  ): Promise<T> {
    const reply = await client.fetchJson(path, { parse, ...(signal && { signal }) });
    // No hash is known here, so every body was parsed.
    return reply.value as T;
  }

  function pageParser<R extends Resource>(resource: R) {
    return (value: unknown, url: string) =>
      parsePage(value, url, (object) => parseRecord(resource, object, { url, allowOddFields }));
  }

  async function* pagesOf<R extends Resource>(
    resource: R,
    path: string,
    query: ListQuery<R>,
  ): AsyncGenerator<ListPage<RecordOf[R]>, void, undefined> {
    const { pageSize = 100, offset = 0, filters } = query;
    assertCount("pageSize", pageSize, 1, 1000);
    assertCount("offset", offset, 0);
    const first: PageRequest = { path, limit: pageSize, offset, others: filterText(filters) };
    const fetchPage = (request: string) => ask(request, pageParser(resource), query);
    yield* listPages({ first, otherPaths: [listPath(resource)], baseUrl, fetchPage });
  }

  async function* recordsOf<R extends Resource>(resource: R, path: string, query: ListQuery<R>) {
    for await (const page of pagesOf(resource, path, query)) {
      for (const record of page.objects) {
        query.signal?.throwIfAborted();
        yield record;
      }
    }
  }

  return {
    baseUrl: `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, "")}`,
    fetchRoot: (options = {}) => fetchRoot(client, options),
    async fetchPage(resource, query = {}) {
      const { limit, offset, filters } = query;
      if (limit !== undefined) assertCount("limit", limit, 0);
      if (offset !== undefined) assertCount("offset", offset, 0);
      const place = queryText({ limit, offset });
      const path = `${listPath(resource)}?${filterText(filters)}${place && `&${place}`}`;
      return ask(path, pageParser(resource), query);
    },
    list: (resource, query = {}) => recordsOf(resource, listPath(resource), query),
    listPages: (resource, query = {}) => pagesOf(resource, listPath(resource), query),
    fetchRecord: (resource, idOrSlug, options = {}) =>
      fetchRecord(client, resource, idOrSlug, { ...options, allowOddFields }),
    versionsOf: (projectSlug, query = {}) => recordsOf("version", recordPath("version", projectSlug), query),
    fetchSchema: (resource, options) => ask(schemaPath(resource), parseSchema, options),
    async searchFiles(q, options = {}) {
      if (options.page !== undefined) assertCount("page", options.page, 1);
      const parse = (value: unknown, url: string) =>
        parseObjects(value, url, (hit) => parseFileHit(hit, { url, allowOddFields }));
      return ask(fileSearchPath(q, options.page), parse, options);
    },
    searchAnchors: (q, options) =>
      ask(
        anchorSearchPath(q),
        (value, url) => parseObjects(value, url, (hit) => anchorOf(hit, url)),
        options,
      ),
    async searchDocs(search, options = {}) {
      try {
        return await ask(docSearchPath(search), parseDocHits, options);
      } catch (error) {
        const message = `The service has no project ${search.project}, or no doc search`;
        return throwNoRecord(error, client, message, options.signal);
      }
    },
    stats: client.stats,
    close: client.close,
    [Symbol.asyncDispose]: client.close,
  };
}

function anchorOf(hit: unknown, url: string): string {
  if (typeof hit === "string") return hit;
  throw unexpectedShape(url, "a hit is no address");
}

/** The filters as a query. Refuses the parameters that the client itself sets. */
function filterText(filters: Filters<Resource> | undefined): string {
  const own = ["limit", "offset", "format"].filter((name) => Object.hasOwn(filters ?? {}, name));
  if (own.length > 0)
    throw new ConfigError(`${own.join(", ")} cannot be a filter: the client sets it itself`);
  return queryText({ ...filters, format: "json" });
}

function assertCount(name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw new ConfigError(
    `${name} should be a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}, and is ${value}`,
  );
}

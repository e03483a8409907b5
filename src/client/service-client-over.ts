import type { Client, FetchOptions } from "../mirror/api/client.ts";
import type { PageRequest } from "../resources/page-request.ts";
import type { Resource } from "../resources/resources.ts";
import { type Answer, type Call, callOf } from "./answer.ts";
import { assertCount } from "./assert-count.ts";
import type { CallOptions } from "./call-options.ts";
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
import { type Ask, fetchRecord, fetchRoot, throwNoRecord } from "./fetch-record.ts";
import { filterText } from "./filters.ts";
import { listPages } from "./list-pages.ts";
import { parseDocHits } from "./parse-doc-hits.ts";
import { type ListPage, parseObjects, parsePage } from "./parse-page.ts";
import { parseFileHit, parseRecord } from "./parse-record.ts";
import { parseSchema } from "./parse-schema.ts";
import { recordList } from "./record-list.ts";
import type { RecordOf } from "./records.ts";
import { requestOptions } from "./request-options.ts";
import type { ListQuery, ServiceClient } from "./service-client.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

/** The functions of a service over a client of requests that is there already. */
export function serviceClientOver(
  client: Client,
  { allowOddFields = false }: Pick<ServiceClientOptions, "allowOddFields"> = {},
): ServiceClient {
  const { baseUrl } = client;

  function askWith(options: CallOptions): Ask {
    const request = requestOptions(options);
    return async <T>(path: string, parse: FetchOptions<T>["parse"]) => {
      const { value, reply } = await client.fetchJson(path, { ...request, parse });
      return { value, reply };
    };
  }

  /** Whatever is wrong with a call rejects it. */
  function call<T>(options: CallOptions, run: (ask: Ask) => Promise<Answer<T>>): Call<T> {
    return callOf((async () => run(askWith(options)))());
  }

  async function askForPage<R extends Resource>(
    ask: Ask,
    resource: R,
    path: string,
  ): Promise<ListPage<RecordOf[R]>> {
    const { value, reply } = await ask(path, (page, url) =>
      parsePage(page, url, (object) => parseRecord(resource, object, { url, allowOddFields })),
    );
    return { ...value, reply };
  }

  async function* pagesOf<R extends Resource>(
    resource: R,
    path: string,
    query: ListQuery<R>,
  ): AsyncGenerator<ListPage<RecordOf[R]>, void, undefined> {
    const { pageSize = 100, offset = 0 } = query;
    assertCount("pageSize", pageSize, 1, 1000);
    assertCount("offset", offset, 0);
    const ask = askWith(query);
    const first: PageRequest = { path, limit: pageSize, offset, others: filterText(resource, query) };
    const fetchPage = (request: string) => askForPage(ask, resource, request);
    yield* listPages({ first, otherPaths: [listPath(resource)], baseUrl, fetchPage });
  }

  async function* recordsOf<R extends Resource>(
    resource: R,
    path: string,
    query: ListQuery<R>,
  ): AsyncGenerator<RecordOf[R], void, undefined> {
    for await (const page of pagesOf(resource, path, query)) {
      for (const record of page.objects) {
        query.signal?.throwIfAborted();
        yield record;
      }
    }
  }

  return {
    baseUrl: `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, "")}`,
    fetchRoot: (options = {}) => call(options, fetchRoot),
    async fetchPage(resource, query = {}) {
      const { limit, offset } = query;
      if (limit !== undefined) assertCount("limit", limit, 0);
      if (offset !== undefined) assertCount("offset", offset, 0);
      const place = queryText({ limit, offset });
      const path = `${listPath(resource)}?${filterText(resource, query)}${place && `&${place}`}`;
      return askForPage(askWith(query), resource, path);
    },
    list: (resource, query = {}) => recordList(recordsOf(resource, listPath(resource), query)),
    listPages: (resource, query = {}) => pagesOf(resource, listPath(resource), query),
    fetchRecord: (resource, idOrSlug, options = {}) =>
      call(options, (ask) => fetchRecord(ask, resource, idOrSlug, { allowOddFields })),
    versionsOf: (projectSlug, query = {}) =>
      recordList(recordsOf("version", recordPath("version", projectSlug), query)),
    fetchSchema: (resource, options = {}) => call(options, (ask) => ask(schemaPath(resource), parseSchema)),
    searchFiles: (q, options = {}) =>
      call(options, async (ask) => {
        if (options.page !== undefined) assertCount("page", options.page, 1);
        return ask(fileSearchPath(q, options.page), (value, url) =>
          parseObjects(value, url, (hit) => parseFileHit(hit, { url, allowOddFields })),
        );
      }),
    searchAnchors: (q, options = {}) =>
      call(options, (ask) =>
        ask(anchorSearchPath(q), (value, url) => parseObjects(value, url, (hit) => anchorOf(hit, url))),
      ),
    searchDocs: (search, options = {}) =>
      call(options, async (ask) => {
        try {
          return await ask(docSearchPath(search), parseDocHits);
        } catch (error) {
          const message = `The service has no project ${search.project}, or no doc search`;
          return throwNoRecord(error, ask, message);
        }
      }),
    stats: client.stats,
    close: client.close,
    [Symbol.asyncDispose]: client.close,
  };
}

function anchorOf(hit: unknown, url: string): string {
  if (typeof hit === "string") return hit;
  throw unexpectedShape(url, "a hit is no address");
}

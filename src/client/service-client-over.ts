import { attachReply, NotFoundError, UnexpectedShapeError } from "../base/errors.ts";
import { ROOT_PATH } from "../mirror/api/api-url.ts";
import type { Client, FetchOptions } from "../mirror/api/client.ts";
import { isGone } from "../mirror/api/fates.ts";
import { isJsonObject } from "../resources/parse-json.ts";
import type { Resource } from "../resources/resources.ts";
import type { CallOptions, ServiceClientOptions } from "./client-options.ts";
import {
  anchorSearchPath,
  assertCount,
  docSearchPath,
  fileSearchPath,
  filterText,
  listPath,
  queryText,
  recordPath,
} from "./endpoint-path.ts";
import { listPages, parseObjects, parsePage } from "./list-pages.ts";
import { parseFileHit, parseRecord, type RecordChecks, unexpectedShape } from "./parse-record.ts";
import { parseDocHits, parseRoot, parseSchema, type RootListing } from "./parse-replies.ts";
import { requestOptions } from "./resolve-options.ts";
import {
  type Answer,
  type Call,
  callOf,
  type ListQuery,
  recordList,
  type ServiceClient,
} from "./service-client.ts";

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

  function call<T>(options: CallOptions, run: (ask: Ask) => Promise<Answer<T>>): Call<T> {
    return callOf((async () => run(askWith(options)))());
  }

  async function askForPage<R extends Resource>(ask: Ask, resource: R, path: string) {
    const { value, reply } = await ask(path, (page, url) =>
      parsePage(page, url, (object) => parseRecord(resource, object, { url, allowOddFields })),
    );
    return { ...value, reply };
  }

  async function* pagesOf<R extends Resource>(resource: R, path: string, query: ListQuery<R>) {
    const { pageSize = 100, offset = 0 } = query;
    assertCount("pageSize", pageSize, 1, 1000);
    assertCount("offset", offset, 0);
    const ask = askWith(query);
    const first = { path, limit: pageSize, offset, others: filterText(resource, query) };
    const fetchPage = (request: string) => askForPage(ask, resource, request);
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
      call(options, (ask) =>
        ask(recordPath(resource, idOrSlug), (value, url) =>
          parseDetail(resource, idOrSlug, value, { allowOddFields, url }),
        ).catch((error) => throwNoRecord(error, ask, `The service has no ${resource} ${idOrSlug}`)),
      ),
    versionsOf: (projectSlug, query = {}) =>
      recordList(recordsOf("version", recordPath("version", projectSlug), query)),
    buildsOf: (projectSlug, query = {}) => {
      const path = listPath("build");
      return recordList(recordsOf("build", path, { ...query, filters: { project__slug: projectSlug } }));
    },
    fetchSchema: (resource, options = {}) =>
      call(options, (ask) => ask(`${listPath(resource)}schema/`, parseSchema)),
    searchFiles: (q, options = {}) =>
      call(options, async (ask) => {
        if (options.page !== undefined) assertCount("page", options.page, 1);
        return ask(fileSearchPath(q, options.page), (value, url) =>
          parseObjects(value, url, (hit) => parseFileHit(hit, { url, allowOddFields })),
        );
      }),
    searchAnchors: (q, options = {}) =>
      call(options, (ask) =>
        ask(anchorSearchPath(q), (value, url) =>
          parseObjects(value, url, (hit) => {
            if (typeof hit === "string") return hit;
            throw unexpectedShape(url, "a hit is no address");
          }),
        ),
      ),
    searchDocs: (search, options = {}) =>
      call(options, async (ask) => {
        const message = `The service has no project ${search.project}, or no doc search`;
        return ask(docSearchPath(search), parseDocHits).catch((error) => throwNoRecord(error, ask, message));
      }),
    stats: client.stats,
    close: client.close,
    [Symbol.asyncDispose]: client.close,
  };
}

type Ask = <T>(path: string, parse: FetchOptions<T>["parse"]) => Promise<Answer<T>>;

async function fetchRoot(ask: Ask): Promise<Answer<RootListing>> {
  try {
    return await ask(ROOT_PATH, parseRoot);
  } catch (error) {
    if (!isGone(error)) throw error;
    const { url, message, reply, body } = error;
    const hint = "the base URL is the part before /api/v1/";
    const wrong = new UnexpectedShapeError(message, { url, cause: error, hint });
    throw reply === undefined ? wrong : attachReply(wrong, reply, body);
  }
}

function parseDetail<R extends Resource>(resource: R, key: string, value: unknown, checks: RecordChecks) {
  if (isJsonObject(value) && Array.isArray(value.objects)) {
    const hint =
      resource === "version"
        ? "a version has an id; versionsOf lists the versions of a project"
        : `list the ${resource}s, with a filter`;
    throw unexpectedShape(checks.url, `with a list of ${resource}s instead of one`, hint);
  }
  const record = parseRecord(resource, value, checks);
  // A cache in front of the service may mix replies up.
  if (/^\d+$/.test(key) && record.id !== key.replace(/^0+(?=\d)/, ""))
    throw unexpectedShape(checks.url, `with ${resource} ${record.id.slice(0, 40)}`);
  return record;
}

/** Turns a 404 or 410 into a NotFoundError. A wrong base URL gives a 404 too, so the root listing is read first. */
async function throwNoRecord(error: unknown, ask: Ask, message: string): Promise<never> {
  if (!isGone(error)) throw error;
  await fetchRoot(ask);
  throw new NotFoundError(message, {
    cause: error,
    hint: "check it: digits are always an id, other texts a slug",
  });
}

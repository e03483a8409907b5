import { expect } from "vitest";
import { ConfigError, HttpStatusError, NotFoundError } from "../../src/base/errors.ts";
import type { ServiceClient } from "../../src/client/service-client.ts";
import type { Field } from "../../src/resources/declare.ts";
import { DECLARATIONS, RESOURCES, type Resource, targetOf } from "../../src/resources/resources.ts";

/** What a service has: its path, an id of each resource, a project's slug, and words that its searches find. */
export interface Facts {
  /** The path before `/api`. */
  base: string;
  counts: Record<Resource, number>;
  ids: Record<Resource, string>;
  slug: string;
  word: string;
  anchor: string;
  docs: { project: string; version: string };
}

interface Refusal {
  path: string;
  status: 400 | 404;
  type: string;
  body: unknown;
  /** What the client makes of it, or refuses itself before it asks. */
  client?: [call: (service: ServiceClient) => Promise<unknown>, error: new (...args: never[]) => Error];
}

export interface Endpoint {
  path: string;
  ask: (facts: Facts) => string;
  /** What the body holds: every key, and the type of every value. */
  holds: (body: never, facts: Facts) => void;
  /** The client's function for the same question. */
  call: (service: ServiceClient, facts: Facts) => Promise<unknown>;
  /** The part of the body that the client gives. @default all of it */
  gives?: (body: never) => unknown;
  refuses: readonly Refusal[];
}

type Json = Record<string, unknown>;

const JSON_TYPE = "application/json";
const EMPTY = { status: 404, type: "text/html; charset=utf-8", body: "" } as const;
const UNKNOWN_PATH = {
  status: 404,
  type: "text/html",
  body: expect.stringContaining("<h1>Not Found</h1>"),
} as const;

const pathOf = (resource: string, key = "[^/]+") =>
  expect.stringMatching(new RegExp(`/api/v1/${resource}/${key}/$`));
const DATE = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?$/);
const TEXT = expect.any(String);

function holdsKeys(value: object | undefined, keys: readonly string[]): void {
  expect(Object.keys(value ?? {}).toSorted()).toEqual([...keys].toSorted());
}

/** A record has exactly the documented fields. Any but its id and its path may be null. */
function holdsRecord(resource: Resource, record: Json | undefined, more: readonly string[] = []): void {
  const { fields } = DECLARATIONS[resource];
  holdsKeys(record, ["id", ...Object.keys(fields), ...more]);
  const { id, resource_uri } = record as { id: unknown; resource_uri: unknown };
  expect(id).toEqual(TEXT);
  expect(resource_uri).toEqual(pathOf(resource, String(id)));
  for (const [name, field] of Object.entries(fields)) {
    const value = record?.[name];
    if (value === null) continue;
    if (field.kind === "embedded") holdsRecord("project", value as Json);
    else expect([name, value]).toEqual([name, valueLike(field, value)]);
  }
}

function valueLike(field: Field, value: unknown): unknown {
  const { kind } = field;
  if (kind === "boolean") return expect.any(Boolean);
  if (kind === "datetime") return DATE;
  if (kind === "uri") return pathOf(targetOf(field) ?? "");
  if (kind === "uris") return (value as unknown[]).map(() => pathOf(targetOf(field) ?? ""));
  return TEXT;
}

/** A refusal of a question, by JSON. */
const badRequest = (path: string, error: unknown, client?: Refusal["client"]): Refusal => {
  return { path, status: 400, type: JSON_TYPE, body: { error }, ...(client && { client }) };
};

const root: Endpoint = {
  path: "/api/v1/",
  ask: () => "/api/v1/",
  holds(body: Json, { base }) {
    const entries = RESOURCES.map((resource) => {
      const list_endpoint = `${base}/api/v1/${resource}/`;
      return [resource, { list_endpoint, schema: `${list_endpoint}schema/` }];
    });
    expect(body).toEqual(Object.fromEntries(entries));
  },
  call: (service) => service.fetchRoot(),
  refuses: [{ path: "/api/v1/nosuch/", ...UNKNOWN_PATH }],
};

const list = (resource: Resource): Endpoint => ({
  path: `/api/v1/${resource}/`,
  ask: () => `/api/v1/${resource}/?format=json&limit=5`,
  holds(body: { meta: Json; objects: Json[] }, { base, counts }) {
    holdsKeys(body, ["meta", "objects"]);
    expect(body.meta).toEqual({
      limit: 5,
      offset: 0,
      previous: null,
      total_count: counts[resource],
      next: `${base}/api/v1/${resource}/?format=json&limit=5&offset=5`,
    });
    expect(body.objects).toHaveLength(5);
    for (const record of body.objects) holdsRecord(resource, record);
  },
  call: (service) => service.fetchPage(resource, { limit: 5 }),
  refuses: [
    badRequest(
      `/api/v1/${resource}/?limit=abc`,
      "Invalid limit 'abc' provided. Please provide a positive integer.",
      [(service) => service.fetchPage(resource, { limit: Number.NaN }), ConfigError],
    ),
    badRequest(
      `/api/v1/${resource}/?offset=-1`,
      "Invalid offset '-1' provided. Please provide a positive integer &gt;= 0.",
      [(service) => service.fetchPage(resource, { offset: -1 }), ConfigError],
    ),
    badRequest(`/api/v1/${resource}/?id__gt=5`, expect.stringMatching(/\.$/), [
      (service) => service.fetchPage(resource, { otherFilters: { id__gt: "5" } }),
      HttpStatusError,
    ]),
  ],
});

const detail = (resource: Resource): Endpoint => ({
  path: `/api/v1/${resource}/ID/`,
  ask: ({ ids }) => `/api/v1/${resource}/${ids[resource]}/`,
  holds(body: Json, { ids }) {
    holdsRecord(resource, body);
    expect(body.id).toBe(ids[resource]);
  },
  call: (service, { ids }) => service.fetchRecord(resource, ids[resource]),
  refuses: [
    {
      path: `/api/v1/${resource}/999999999/`,
      ...EMPTY,
      client: [(service) => service.fetchRecord(resource, "999999999"), NotFoundError],
    },
  ],
});

const fileSearch: Endpoint = {
  path: "/api/v1/file/search/",
  ask: ({ word }) => `/api/v1/file/search/?q=${word}`,
  holds(body: { objects: (Json & { text: string })[] }, { word }) {
    holdsKeys(body, ["objects"]);
    expect(body.objects.length).toBeGreaterThan(0);
    for (const hit of body.objects) {
      holdsRecord("file", hit, ["text"]);
      expect(hit.text.toLowerCase()).toContain(`<span class="highlighted">${word}</span>`);
    }
  },
  call: (service, { word }) => service.searchFiles(word),
  gives: (body: { objects: unknown }) => body.objects,
  refuses: [
    badRequest(
      "/api/v1/file/search/?q=oak&page=0",
      "Invalid page '0' provided. Please provide a positive integer.",
      [(service) => service.searchFiles("oak", { page: 0 }), ConfigError],
    ),
  ],
};

const anchorSearch: Endpoint = {
  path: "/api/v1/file/anchor/",
  ask: ({ anchor }) => `/api/v1/file/anchor/?q=${anchor}`,
  holds(body: { objects: string[] }, { anchor }) {
    holdsKeys(body, ["objects"]);
    expect(body.objects.length).toBeGreaterThan(0);
    // Some services leave out the colon.
    const address = expect.stringMatching(new RegExp(`^http:?//[^/]+/.*#${anchor}$`));
    expect(body.objects).toEqual(body.objects.map(() => address));
  },
  call: (service, { anchor }) => service.searchAnchors(anchor),
  gives: (body: { objects: unknown }) => body.objects,
  refuses: [{ path: "/api/v1/file/anchor/more/", ...UNKNOWN_PATH }],
};

const docSearch: Endpoint = {
  path: "/api/v2/docsearch/",
  ask: ({ docs, word }) => `/api/v2/docsearch/?project=${docs.project}&version=${docs.version}&q=${word}`,
  holds(body: { results: { hits: { hits: unknown[]; total: number } } }, { docs }) {
    const link = expect.stringMatching(/^https?:\/\//);
    const fields = { link, path: [TEXT], title: [TEXT], project: [docs.project], version: [docs.version] };
    const hit = { fields, highlight: { content: [expect.stringMatching(/<em>/)] } };
    const { hits } = body.results.hits;
    expect(hits.length).toBeGreaterThan(0);
    expect(body).toEqual({
      results: { hits: { hits: hits.map(() => hit), total: hits.length, max_score: expect.any(Number) } },
    });
  },
  call: (service, { docs, word }) => service.searchDocs({ ...docs, q: word }),
  gives: (body: { results: { hits: unknown } }) => body.results.hits,
  refuses: [
    badRequest("/api/v2/docsearch/", "Need project and q"),
    {
      ...badRequest("/api/v2/docsearch/?project=nosuchproject&version=latest&q=x", "Project not found"),
      status: 404,
      client: [(service) => service.searchDocs({ project: "nosuchproject", q: "x" }), NotFoundError],
    },
  ],
};

const schema: Endpoint = {
  path: "/api/v1/RESOURCE/schema/",
  ask: () => "/api/v1/build/schema/",
  holds(body: { fields: Record<string, Json> }) {
    expect(body).toMatchObject({
      allowed_detail_http_methods: ["get"],
      allowed_list_http_methods: ["get"],
      default_format: JSON_TYPE,
      default_limit: 20,
      filtering: expect.any(Object),
    });
    holdsKeys(body.fields, ["id", ...Object.keys(DECLARATIONS.build.fields)]);
    for (const field of Object.values(body.fields))
      expect(field).toMatchObject({ type: TEXT, help_text: TEXT, nullable: expect.any(Boolean) });
  },
  call: (service) => service.fetchSchema("build"),
  refuses: [
    {
      path: "/api/v1/nosuch/schema/",
      ...UNKNOWN_PATH,
      client: [(service) => service.fetchSchema("nosuch" as Resource), ConfigError],
    },
  ],
};

/** One row for each endpoint (`docs/interface.md`, "Endpoints"). */
export const ENDPOINTS: readonly Endpoint[] = [
  ...[root, ...RESOURCES.map(list), ...RESOURCES.map(detail)],
  ...[fileSearch, anchorSearch, docSearch, schema],
];

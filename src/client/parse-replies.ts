import { isJsonObject } from "../resources/parse-json.ts";
import { isResource, RESOURCES, type Resource } from "../resources/resources.ts";
import { type Extra, extraOf, unexpectedShape } from "./parse-record.ts";

export interface ResourceEndpoints {
  readonly list_endpoint: string;
  readonly schema: string | null;
}

/** The resources of a service by name. In `extra` are those that are not documented. */
export type RootListing = { readonly [R in Resource]?: ResourceEndpoints } & {
  readonly extra: Readonly<Partial<Record<string, ResourceEndpoints>>>;
};

/** Reads the root listing. Throws `UnexpectedShapeError` when it names none of the documented resources. */
export function parseRoot(value: unknown, url: string): RootListing {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const found = entries.flatMap(([name, endpoints]): [string, ResourceEndpoints][] => {
    if (!isJsonObject(endpoints) || typeof endpoints.list_endpoint !== "string") return [];
    const { list_endpoint, schema } = endpoints;
    return [[name, { list_endpoint, schema: typeof schema === "string" ? schema : null }]];
  });
  const documented = found.filter(([name]) => isResource(name));
  const fault = `it lists none of the resources ${RESOURCES.join(", ")}`;
  if (documented.length === 0) throw unexpectedShape(url, fault, "the base URL is the part before /api/v1/");
  const others = found.filter(([name]) => !isResource(name));
  return { ...Object.fromEntries(documented), extra: Object.fromEntries(others) };
}

/** One field as a schema describes it. Real services send these properties, and more. */
export interface SchemaField {
  readonly type?: unknown;
  readonly nullable?: unknown;
  readonly unique?: unknown;
  readonly help_text?: unknown;
  readonly extra: Extra;
}

/**
 * The schema of a resource. `docs/interface.md`, "Endpoints", says that its shape is not documented: only
 * that it is an object is sure.
 */
export interface ResourceSchema {
  /** The fields by their names, those that are not documented too. Absent where the schema has none. */
  readonly fields?: Readonly<Partial<Record<string, SchemaField>>>;
  readonly extra: Extra;
}

/** Reads a schema. Throws `UnexpectedShapeError` when it is no object, or when its `fields` are none. */
export function parseSchema(value: unknown, url: string): ResourceSchema {
  if (!isJsonObject(value)) throw unexpectedShape(url, "it is no schema: a JSON object was expected");
  const { fields } = value;
  const extra = extraOf(value, ["fields"]);
  if (fields === undefined) return { extra };
  const parsed = Object.entries(isJsonObject(fields) ? fields : { fields }).map(([name, field]) => {
    if (!isJsonObject(field)) throw unexpectedShape(url, "it is no schema: its fields are no objects");
    const known = Object.entries(field).filter(([property]) => PROPERTIES.includes(property));
    return [name, { ...Object.fromEntries(known), extra: extraOf(field, PROPERTIES) }];
  });
  return { fields: Object.fromEntries(parsed), extra };
}

const PROPERTIES = ["type", "nullable", "unique", "help_text"];

/** The hits of the doc search, as in `results.hits` of the reply (`docs/interface.md`, "Searches"). */
export interface DocHits {
  /** The number of all hits; the reply holds only the best. Null when the reply has no such number. */
  readonly total: number | null;
  /** The score of the best hit, without a unit. Null when nothing was found. */
  readonly max_score: number | null;
  readonly hits: readonly DocHit[];
  readonly extra: Extra;
}

export interface DocHit {
  readonly fields: {
    /** The address of the page. Null when the hit has none. */
    readonly link: string | null;
    /** These are arrays on the wire, usually of one string. */
    readonly path: readonly string[];
    readonly project: readonly string[];
    readonly title: readonly string[];
    readonly version: readonly string[];
    readonly extra: Extra;
  };
  /** `content` holds snippets of HTML in which the words stand in `em`. */
  readonly highlight: { readonly content: readonly string[]; readonly extra: Extra };
  readonly extra: Extra;
}

/**
 * Reads the reply of the doc search. A single string counts as an array of one, and an absent array as an
 * empty one, because this format may change. Throws `UnexpectedShapeError` for anything else.
 */
export function parseDocHits(value: unknown, url: string): DocHits {
  const results = isJsonObject(value) ? value.results : undefined;
  const found = isJsonObject(results) ? results.hits : undefined;
  if (!isJsonObject(found) || !Array.isArray(found.hits))
    throw unexpectedShape(url, 'it has no hits ({"results": {"hits": {"hits": […]}}})');
  return {
    total: finite(found.total),
    max_score: finite(found.max_score),
    hits: found.hits.map((hit) => parseHit(hit, url)),
    extra: extraOf(found, ["total", "max_score", "hits"]),
  };
}

function parseHit(hit: unknown, url: string): DocHit {
  if (!isJsonObject(hit) || !isJsonObject(hit.fields)) throw unexpectedShape(url, "a hit has no fields");
  const { fields, highlight = {} } = hit;
  if (highlight !== null && !isJsonObject(highlight))
    throw unexpectedShape(url, "the highlight of a hit is no object");
  const texts = (name: string) => parseTexts(fields[name], `${name} of a hit`, url);
  return {
    fields: {
      link: texts("link")[0] ?? null,
      path: texts("path"),
      project: texts("project"),
      title: texts("title"),
      version: texts("version"),
      extra: extraOf(fields, ["link", "path", "project", "title", "version"]),
    },
    highlight: {
      content: parseTexts(highlight?.content, "the highlight of a hit", url),
      extra: extraOf(highlight ?? {}, ["content"]),
    },
    extra: extraOf(hit, ["fields", "highlight"]),
  };
}

function parseTexts(value: unknown, what: string, url: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [value];
  if (Array.isArray(value) && value.every((text) => typeof text === "string")) return value;
  throw unexpectedShape(url, `${what} should be an array of strings`);
}

function finite(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

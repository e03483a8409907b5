import { mapInTurns } from "../../base/map-in-turns.ts";
import type { Field, FieldKind } from "../../resources/declare.ts";
import { toJson } from "../../resources/parse-json.ts";
import { type FoundDocs, fieldsOf, type Resource, targetOf } from "../../resources/resources.ts";
import { filteringOf } from "./filters.ts";
import { DEFAULT_LIMIT } from "./paging.ts";

/**
 * JSON as the recorded service writes it: keys sorted, text raw. The spaces after comma and colon are left
 * out, because no reader needs them.
 */
export function renderJson(value: unknown): Buffer {
  return Buffer.from(renderText(value));
}

/** The same of a page of a list. A long one is written in parts, between which other requests have their turn. */
export async function renderPage(meta: object, objects: readonly unknown[]): Promise<Buffer> {
  const texts = await mapInTurns(objects, renderText);
  return Buffer.from(`{"meta":${renderText(meta)},"objects":[${texts.join(",")}]}`);
}

const renderText = (value: unknown): string => toJson(sortKeys(value));

/** Returns the same object when its keys are already sorted. That is the usual case and costs little. */
function sortKeys(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const sorted = value.map(sortKeys);
    return sorted.some((item, place) => item !== value[place]) ? sorted : value;
  }
  const source = value as Record<string, unknown>;
  const keys = Object.keys(source);
  let changed = keys.some((key, place) => key < (keys[place - 1] ?? ""));
  if (changed) keys.sort();
  const sorted: Record<string, unknown> = {};
  for (const key of keys) {
    const item = sortKeys(source[key]);
    if (item !== source[key]) changed = true;
    // An assignment would set the prototype.
    if (key === "__proto__") Object.defineProperty(sorted, key, { value: item, enumerable: true });
    else sorted[key] = item;
  }
  return changed ? sorted : value;
}

/** The reply of the doc search in its search engine's format (`docs/interface.md`, "Searches"). */
export function docSearchReply({ hits, total, maxScore }: FoundDocs): Record<string, unknown> {
  const shown = hits.map(({ link, path, project, title, version, content }) => ({
    fields: { link, path: [path], project: [project], title: [title], version: [version] },
    highlight: { content },
  }));
  return { results: { hits: { hits: shown, total, max_score: maxScore } } };
}

/**
 * The reply of `GET /api/v1/<resource>/schema/`. Its shape is not documented (`docs/interface.md`,
 * "Endpoints"). This is the shape of the recorded service, with the fields of `src/resources`.
 */
export function describeSchema(resource: Resource, apiPath: string): Record<string, unknown> {
  const fields = fieldsOf(resource).map(([name, field]) => [name, describeField(name, field, apiPath)]);
  const filtering = filteringOf(resource);
  return {
    allowed_detail_http_methods: ["get"],
    allowed_list_http_methods: ["get"],
    default_format: "application/json",
    default_limit: DEFAULT_LIMIT,
    fields: Object.fromEntries(fields),
    ...(Object.keys(filtering).length > 0 ? { filtering } : {}),
  };
}

const ONE_RELATED = "A single related resource. Can be either a URI or set of nested resource data.";

const MANY_RELATED =
  "Many related resources. Can be either a list of URIs or list of individually nested resource data.";

const KINDS: Record<FieldKind, { type: string; help_text: string; related_type?: string }> = {
  string: { type: "string", help_text: 'Unicode string data. Ex: "Hello World"' },
  boolean: { type: "boolean", help_text: "Boolean data. Ex: True" },
  datetime: { type: "datetime", help_text: 'A date & time as a string. Ex: "2010-11-10T03:07:43"' },
  uri: { type: "related", help_text: ONE_RELATED, related_type: "to_one" },
  embedded: { type: "related", help_text: ONE_RELATED, related_type: "to_one" },
  uris: { type: "related", help_text: MANY_RELATED, related_type: "to_many" },
};

function describeField(name: string, field: Field, apiPath: string): unknown {
  const { kind, to, filter, long, ...traits } = field;
  const related = targetOf(field);
  return {
    blank: false,
    nullable: false,
    readonly: false,
    unique: false,
    default: traits.blank ? "" : "No default provided.",
    primary_key: name === "id",
    verbose_name: name.replaceAll("_", " "),
    ...KINDS[kind],
    ...(related ? { related_schema: `${apiPath}/${related}/schema/` } : {}),
    ...traits,
  };
}

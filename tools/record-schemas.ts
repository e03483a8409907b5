import type { Field, FieldKind } from "../src/resources/declare.ts";
import { DECLARATIONS, fieldsOf, RESOURCES, type Resource, targetOf } from "../src/resources/resources.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The name of a resource's schema in the description: `Build`. */
export function nameOf(resource: Resource): string {
  return resource.charAt(0).toUpperCase() + resource.slice(1);
}

export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const ID: JsonSchema = {
  type: "string",
  description: "The mirror of a service that sends integers, against its documentation, sends them too.",
};

/**
 * The JSON Schemas (draft 2020-12) of the records, as `src/resources` lists their fields, and of the pages of their
 * lists. Only `id` is required, any other field may be null, and unknown fields are allowed: records are
 * served as the service sent them, and services differ (`docs/internals/service.md`, "Values").
 */
export function recordSchemas(): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = {};
  for (const resource of RESOURCES) {
    const name = nameOf(resource);
    const fields = Object.entries(DECLARATIONS[resource].fields);
    const own = Object.fromEntries(fields.map(([field, declared]) => [field, fieldSchema(declared)]));
    const page = { meta: schemaRef("PageMeta"), objects: { type: "array", items: schemaRef(name) } };
    schemas[name] = { type: "object", required: ["id"], properties: { id: ID, ...own } };
    schemas[`${name}Page`] = { type: "object", required: Object.keys(page), properties: page };
  }
  return schemas;
}

const orNull = (type: string, more: JsonSchema = {}): JsonSchema => ({ type: [type, "null"], ...more });
const LOCAL_TIME = "ISO 8601 with microseconds and without a zone.";

function fieldSchema(field: Field): JsonSchema {
  const related = targetOf(field);
  const [record, ref] = related === undefined ? ["record", null] : [related, schemaRef(nameOf(related))];
  const schemas: Record<FieldKind, JsonSchema> = {
    string: orNull("string"),
    boolean: orNull("boolean"),
    datetime: orNull("string", { description: LOCAL_TIME, examples: ["2026-03-11T22:08:04.614183"] }),
    uri: orNull("string", { description: `The path of the ${record}.` }),
    uris: orNull("array", { items: { type: "string", description: `The path of a ${record}.` } }),
    embedded: ref === null ? orNull("object") : { anyOf: [ref, { type: "null" }] },
  };
  return schemas[field.kind];
}

export type Parameter = { name: string; in: "query" | "path"; schema: JsonSchema } & Readonly<{
  required?: true;
  description?: string;
}>;

/**
 * The filters of a list: each field of its records, and each field of the records that they refer to, by
 * equality. References of references work too, but there are hundreds of them.
 */
export function filterParameters(resource: Resource): Parameter[] {
  const own = fieldsOf(resource).map(([name, field]) => toParameter(name, field));
  const across = fieldsOf(resource).flatMap(([reference, field]) => {
    const related = targetOf(field);
    if (related === undefined) return [];
    return fieldsOf(related).map(([name, inner]) => toParameter(`${reference}__${name}`, inner));
  });
  return [...own, ...across];
}

function toParameter(name: string, field: Field): Parameter {
  const related = targetOf(field);
  if (related !== undefined) {
    const description = `The id or the path of a ${related}. The path of another resource is refused.`;
    const others = RESOURCES.filter((resource) => resource !== related).join("|");
    const other = { pattern: `/api/v1/(?:${others})/[^/?#]+/?$` };
    return { name, in: "query", description, schema: { type: "string", not: other } };
  }
  if (field.kind === "datetime") return { name, in: "query", schema: schemaRef("Moment") };
  return { name, in: "query", schema: { type: field.kind === "boolean" ? "boolean" : "string" } };
}

/** The months by their number of days. No lookahead and no `\d`, whose meaning differs by language. */
const DAYS = [
  "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
  "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
  "02-(?:0[1-9]|1[0-9]|2[0-8])",
].join("|");
const YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)";
const BY_FOUR = "(?:0[48]|[2468][048]|[13579][26])";
const LEAP_DAY = `(?:[0-9]{2}${BY_FOUR}|${BY_FOUR}00)-02-29`;
const TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?";

/** The dates that a filter takes (`src/resources/local-time.ts`), or a day. */
export const MOMENT: JsonSchema = {
  type: "string",
  description: "A moment without a zone, or a day, which means its midnight.",
  pattern: `^(?:${YEAR}-(?:${DAYS})|${LEAP_DAY})(?:[T ]${TIME})?$`,
  examples: ["2026-03-11T22:08:04.614183", "2026-03-11"],
};

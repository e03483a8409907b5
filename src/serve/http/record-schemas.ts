import type { Field } from "../../resources/declare.ts";
import { DECLARATIONS, RESOURCES, type Resource, targetOf } from "../../resources/resources.ts";

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
    schemas[name] = recordSchema(resource);
    schemas[`${name}Page`] = {
      type: "object",
      required: ["meta", "objects"],
      properties: { meta: schemaRef("PageMeta"), objects: { type: "array", items: schemaRef(name) } },
    };
  }
  return schemas;
}

function recordSchema(resource: Resource): JsonSchema {
  const properties: Record<string, JsonSchema> = { id: ID };
  for (const [name, field] of Object.entries(DECLARATIONS[resource].fields)) {
    properties[name] = fieldSchema(field);
  }
  return { type: "object", required: ["id"], properties };
}

function fieldSchema(field: Field): JsonSchema {
  const related = targetOf(field);
  switch (field.kind) {
    case "string":
      return { type: ["string", "null"] };
    case "boolean":
      return { type: ["boolean", "null"] };
    case "datetime":
      return {
        type: ["string", "null"],
        description: "ISO 8601 with microseconds and without a zone.",
        examples: ["2026-03-11T22:08:04.614183"],
      };
    case "uri":
      return { type: ["string", "null"], description: `The path of the ${related ?? "record"}.` };
    case "uris":
      return {
        type: ["array", "null"],
        items: { type: "string", description: `The path of a ${related ?? "record"}.` },
      };
    case "embedded":
      return related === undefined
        ? { type: ["object", "null"] }
        : { anyOf: [schemaRef(nameOf(related)), { type: "null" }] };
  }
}

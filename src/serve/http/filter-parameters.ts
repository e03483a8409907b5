import type { FieldKind } from "../../resources/fields.ts";
import { RELATED, RESOURCE_FIELDS, type Resource } from "../../resources/resources.ts";
import type { JsonSchema } from "./record-schemas.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly required?: true;
  readonly description?: string;
  readonly schema: JsonSchema;
}

/**
 * The filters of a list: each field of its records, and each field of the records that they refer to, by
 * equality. References of references work too, but there are hundreds of them.
 */
export function filterParameters(resource: Resource): Parameter[] {
  const own = fieldsOf(resource).map(([name, kind]) => toParameter(name, name, kind));
  const across = fieldsOf(resource).flatMap(([reference, kind]) => {
    const related = relatedBy(reference, kind);
    if (related === undefined) return [];
    return fieldsOf(related).map(([name, inner]) => toParameter(`${reference}__${name}`, name, inner));
  });
  return [...own, ...across];
}

const fieldsOf = (resource: Resource): [string, FieldKind][] => [
  ["id", "string"],
  ...Object.entries(RESOURCE_FIELDS[resource]),
];

function relatedBy(name: string, kind: FieldKind): Resource | undefined {
  return kind === "uri" || kind === "uris" || kind === "embedded" ? RELATED[name] : undefined;
}

function toParameter(name: string, field: string, kind: FieldKind): Parameter {
  const related = relatedBy(field, kind);
  if (related !== undefined) {
    const description = `The id or the path of a ${related}.`;
    return { name, in: "query", description, schema: { type: "string" } };
  }
  return { name, in: "query", schema: { type: kind === "boolean" ? "boolean" : "string" } };
}

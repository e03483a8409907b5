import type { Field } from "../../resources/declare.ts";
import { fieldsOf, type Resource, targetOf } from "../../resources/resources.ts";
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
    const description = `The id or the path of a ${related}.`;
    return { name, in: "query", description, schema: { type: "string" } };
  }
  return { name, in: "query", schema: { type: field.kind === "boolean" ? "boolean" : "string" } };
}

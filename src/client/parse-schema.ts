import { isJsonObject } from "../resources/json-object.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

/** One field as a schema describes it. Real services send these properties, and more. */
export interface SchemaField {
  readonly type?: unknown;
  readonly nullable?: unknown;
  readonly unique?: unknown;
  readonly help_text?: unknown;
  readonly [property: string]: unknown;
}

/**
 * The schema of a resource. `docs/interface.md`, "Endpoints", says that its shape is not documented: only
 * that it is an object is sure, and that `fields`, where it is there, holds an object for each field.
 */
export interface ResourceSchema {
  readonly fields?: Readonly<Partial<Record<string, SchemaField>>>;
  readonly [unknownField: string]: unknown;
}

/** Reads a schema. Throws `UnexpectedShapeError` when it is no object, or when its `fields` are none. */
export function parseSchema(value: unknown, url: string): ResourceSchema {
  if (!isJsonObject(value)) throw unexpectedShape(url, "it is no schema: a JSON object was expected");
  const { fields } = value;
  if (fields === undefined) return value;
  if (!isJsonObject(fields) || !Object.values(fields).every(isJsonObject))
    throw unexpectedShape(url, "it is no schema: its fields are no objects");
  return value as ResourceSchema;
}

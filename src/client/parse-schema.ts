import { isJsonObject } from "../resources/json-object.ts";
import { type Extra, extraOf } from "./extra.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

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
  const entries = isJsonObject(fields) ? Object.entries(fields) : null;
  if (
    entries === null ||
    !entries.every((entry): entry is [string, Record<string, unknown>] => isJsonObject(entry[1]))
  )
    throw unexpectedShape(url, "it is no schema: its fields are no objects");
  return { fields: Object.fromEntries(entries.map(([name, field]) => [name, parseField(field)])), extra };
}

const PROPERTIES = ["type", "nullable", "unique", "help_text"];

function parseField(field: Record<string, unknown>): SchemaField {
  const known = Object.entries(field).filter(([name]) => PROPERTIES.includes(name));
  return { ...Object.fromEntries(known), extra: extraOf(field, PROPERTIES) };
}

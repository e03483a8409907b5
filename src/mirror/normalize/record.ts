import type { FieldKinds } from "../../resources/fields.ts";
import { parseLocalTime } from "../../resources/local-time.ts";
import type { Extra } from "../../store/schema/columns.ts";
import { cleanJson, cleanText, type Replacements } from "./clean-text.ts";

/** Column values by column name, in the form that `load` writes: texts, booleans, and null. */
export type Columns = Record<string, string | boolean | null>;

export interface NormalizedFields {
  columns: Columns;
  extra: Extra | null;
  /** The values of the fields that have no column of their own (`uris` and `embedded`), as they were sent. */
  related: Record<string, unknown>;
}

/**
 * Sorts the fields of one record into columns and `extra`. Nothing is lost: columns and `extra` together give
 * the record as it was sent, except for U+0000 and lone surrogates. A `uri` field fills the column
 * `<field>_uri`. Fields of kind `uris` and `embedded` are returned in `related`, and the caller stores them.
 */
export function normalizeFields(
  record: Record<string, unknown>,
  kinds: FieldKinds,
  replacements: Replacements,
): NormalizedFields {
  const columns: Columns = {};
  const related: Record<string, unknown> = {};
  let values: Record<string, unknown> | null = null;
  let missing: string[] | null = null;
  const keep = (key: string, value: unknown) => {
    values ??= Object.create(null) as Record<string, unknown>;
    values[cleanText(key, replacements)] = cleanJson(value, replacements);
  };

  let known = Object.hasOwn(record, "id") ? 1 : 0;
  for (const field of Object.keys(kinds)) {
    const kind = kinds[field];
    const present = Object.hasOwn(record, field);
    const value = present ? record[field] : null;
    if (present) known += 1;
    else {
      missing ??= [];
      missing.push(field);
    }
    if (kind === "uris" || kind === "embedded") {
      if (present) related[field] = value;
      continue;
    }
    const column = kind === "uri" ? `${field}_uri` : field;
    columns[column] = null;
    if (value === null) continue;
    if (kind === "boolean") {
      if (typeof value === "boolean") columns[column] = value;
      else keep(field, value);
    } else if (typeof value !== "string") {
      keep(field, value);
    } else if (kind === "datetime") {
      const time = parseLocalTime(value);
      columns[column] = time ? time.text : null;
      if (time?.text !== value) keep(field, value);
    } else {
      columns[column] = cleanText(value, replacements);
    }
  }
  if (Object.hasOwn(record, "id") && typeof record.id !== "string") keep("id", record.id);
  const keys = Object.keys(record);
  if (keys.length > known) {
    for (const key of keys) if (key !== "id" && !Object.hasOwn(kinds, key)) keep(key, record[key]);
  }
  return { columns, extra: withoutEmpty(values, missing), related };
}

function withoutEmpty(values: Record<string, unknown> | null, missing: string[] | null): Extra | null {
  if (!values && !missing) return null;
  return { ...(values && { values }), ...(missing && { missing }) };
}

/** Adds to `extra` a value that does not fit its own table. */
export function keepInExtra(
  extra: Extra | null,
  field: string,
  value: unknown,
  replacements: Replacements,
): Extra {
  const values: Record<string, unknown> = Object.assign(Object.create(null), extra?.values);
  values[field] = cleanJson(value, replacements);
  return { ...extra, values };
}

import type { Field, FieldKind, Fields } from "../resources/declare.ts";
import { isJsonObject } from "../resources/json-object.ts";
import { foreignNumberIn } from "../resources/parse-json.ts";
import { recordId } from "../resources/record-id.ts";
import { DECLARATIONS, type Resource, targetOf } from "../resources/resources.ts";
import type { FileHit, RecordOf } from "./records.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

const HANDED_ON = "with the option allowOddFields the client puts such a value into extra";

export interface RecordChecks {
  /** Where the record comes from, for messages. */
  url: string;
  /** Whether a documented field may hold a value of another type, which then goes to `extra`. @default false */
  allowOddFields?: boolean;
}

/**
 * Reads one record. Throws `UnexpectedShapeError` when it has no usable id, or when a documented field holds
 * a value of another type. An integer as id becomes its digits. All other values stay as they came.
 */
export function parseRecord<R extends Resource>(
  resource: R,
  value: unknown,
  checks: RecordChecks,
): RecordOf[R] {
  return readRecord(
    value,
    { resource, fields: DECLARATIONS[resource].fields, what: resource },
    checks,
  ) as RecordOf[R];
}

const FILE_HIT: Fields = { ...DECLARATIONS.file.fields, text: { kind: "string" } };

/** Reads one hit of the file search: a file with a snippet. Throws like `parseRecord`. */
export function parseFileHit(value: unknown, checks: RecordChecks): FileHit {
  return readRecord(value, { resource: "file", fields: FILE_HIT, what: "file" }, checks) as FileHit;
}

interface Expected {
  resource: Resource;
  fields: Fields;
  /** As messages name it. */
  what: string;
}

function readRecord(value: unknown, { resource, fields, what }: Expected, checks: RecordChecks): object {
  const { url, allowOddFields = false } = checks;
  const id = recordId(value);
  if (id === null || !isJsonObject(value)) throw unexpectedShape(url, `a ${what} has no usable id`);
  const foreign = allowOddFields ? null : foreignNumberIn(value);
  if (foreign !== null) {
    const fault = `${what} ${id} holds ${foreign}, a number that JSON does not have`;
    throw unexpectedShape(url, fault, HANDED_ON);
  }
  const known: [string, unknown][] = [["id", id]];
  const extra: [string, unknown][] = [];
  for (const [name, held] of Object.entries(value)) {
    if (name === "id") continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const read = field && readField(held, field, { resource, id, name }, checks);
    if (read === undefined) extra.push([name, held]);
    else known.push([name, read]);
  }
  // No assignment, which would take a field of the name __proto__ for something else.
  return { ...Object.fromEntries(known), extra: Object.fromEntries(extra) };
}

/** The value of a documented field. Undefined for one of another type, where those are allowed. */
function readField(
  held: unknown,
  field: Field,
  { resource, id, name }: { resource: Resource; id: string; name: string },
  checks: RecordChecks,
): unknown {
  if (held === null) return null;
  const related = field.kind === "embedded" ? targetOf(field) : undefined;
  if (related !== undefined && (!checks.allowOddFields || recordId(held) !== null)) {
    const what = `${related} in ${resource} ${id}`;
    return readRecord(held, { resource: related, fields: DECLARATIONS[related].fields, what }, checks);
  }
  if (related === undefined && IS_KIND[field.kind](held)) return held;
  if (checks.allowOddFields) return undefined;
  const came = Array.isArray(held) ? "an array" : `of type ${typeof held}`;
  const fault = `${resource} ${id}: ${name} should be ${KIND_WORDS[field.kind]}, and is ${came}`;
  throw unexpectedShape(checks.url, fault, HANDED_ON);
}

const isText = (value: unknown): boolean => typeof value === "string";

const IS_KIND: Record<FieldKind, (value: unknown) => boolean> = {
  string: isText,
  datetime: isText,
  uri: isText,
  boolean: (value) => typeof value === "boolean",
  uris: (value) => Array.isArray(value) && value.every(isText),
  embedded: isJsonObject,
};

const KIND_WORDS: Record<FieldKind, string> = {
  string: "a string",
  datetime: "a string",
  uri: "a path",
  boolean: "a boolean",
  uris: "an array of paths",
  embedded: "a whole record",
};

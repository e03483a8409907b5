import type { FieldKind } from "../resources/declare.ts";
import { isJsonObject } from "../resources/json-object.ts";
import { foreignNumberIn } from "../resources/parse-json.ts";
import { recordId } from "../resources/record-id.ts";
import { DECLARATIONS, type Resource, targetOf } from "../resources/resources.ts";
import type { FileHit, RecordOf } from "./records.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

const HANDED_ON = "with the option allowOddFields the client hands such records on as they came";

export interface RecordChecks {
  /** Where the record comes from, for messages. */
  url: string;
  /** Whether a documented field may hold a value of another type. @default false */
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
  return checkRecord(resource, value, checks, resource) as RecordOf[R];
}

/** Reads one hit of the file search: a file with a snippet. Throws like `parseRecord`. */
export function parseFileHit(value: unknown, checks: RecordChecks): FileHit {
  const hit = checkRecord("file", value, checks, "file");
  if (!checks.allowOddFields) checkField(hit.text, "string", `file ${hit.id}: text`, checks.url);
  return hit as FileHit;
}

function checkRecord(
  resource: Resource,
  value: unknown,
  checks: RecordChecks,
  what: string,
): Record<string, unknown> {
  const { url, allowOddFields = false } = checks;
  const id = recordId(value);
  if (id === null || !isJsonObject(value)) throw unexpectedShape(url, `a ${what} has no usable id`);
  const record: Record<string, unknown> = value.id === id ? value : { ...value, id };
  if (allowOddFields) return record;
  const foreign = foreignNumberIn(value);
  if (foreign !== null) {
    const fault = `${what} ${id} holds ${foreign}, a number that JSON does not have`;
    throw unexpectedShape(url, fault, HANDED_ON);
  }
  for (const [field, declared] of Object.entries(DECLARATIONS[resource].fields)) {
    const held = Object.hasOwn(record, field) ? record[field] : undefined;
    if (held === undefined || held === null) continue;
    const { kind } = declared;
    const related = targetOf(declared);
    if (kind === "embedded" && related !== undefined) {
      const inner = checkRecord(related, held, checks, `${related} in ${resource} ${id}`);
      if (inner !== held) record[field] = inner;
    } else checkField(held, kind, `${resource} ${id}: ${field}`, url);
  }
  return record;
}

function checkField(value: unknown, kind: FieldKind, where: string, url: string): void {
  if (value === undefined || value === null || IS_KIND[kind](value)) return;
  const came = Array.isArray(value) ? "an array" : `of type ${typeof value}`;
  throw unexpectedShape(url, `${where} should be ${KIND_WORDS[kind]}, and is ${came}`, HANDED_ON);
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

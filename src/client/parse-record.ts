import { UnexpectedShapeError } from "../base/errors.ts";
import type { Field, FieldKind, Fields } from "../resources/declare.ts";
import { foreignNumberIn, isJsonObject } from "../resources/parse-json.ts";
import { recordId } from "../resources/record-id.ts";
import {
  DECLARATIONS,
  type FileHitRecord,
  type ProjectRecord,
  type RecordTypes,
  type Resource,
  targetOf,
} from "../resources/resources.ts";

/**
 * A record as it was received (`docs/interface.md`, "Records"). Only `id` is sure. Any other documented field
 * may be null or absent, because releases of the service drop fields and leave them empty. If it is there, it
 * has the documented type. What else came is in `extra`, which is empty otherwise.
 */
export type Received<R> = {
  readonly [Field in Exclude<keyof R, "id">]?: (R[Field] extends ProjectRecord ? Project : R[Field]) | null;
} & { readonly id: string; readonly extra: Extra };

/** Follows `docs/interface.md`, "User". `last_login` is a date without a zone. */
export interface User extends Received<RecordTypes["user"]> {}
/** Follows `docs/interface.md`, "Project". Dates have no zone; `users` are paths. */
export interface Project extends Received<ProjectRecord> {}
/** Follows `docs/interface.md`, "Version". `project` is the whole project. */
export interface Version extends Received<RecordTypes["version"]> {}
/** Follows `docs/interface.md`, "File". `project` is the whole project; `absolute_url` is the page itself. */
export interface File extends Received<RecordTypes["file"]> {}
/**
 * Follows `docs/interface.md`, "Build". `date` has no zone; `project` and `version` are paths. Before `state`
 * is `finished`, `success` means nothing.
 */
export interface Build extends Received<RecordTypes["build"]> {}

/** A file with `text`, a snippet of HTML in which the words stand in spans of class `highlighted`. */
export interface FileHit extends Received<FileHitRecord> {}

export interface RecordOf {
  readonly user: User;
  readonly project: Project;
  readonly version: Version;
  readonly file: File;
  readonly build: Build;
}

const HANDED_ON = "with the option allowOddFields the client puts such a value into extra";

export interface RecordChecks {
  url: string;
  /** A documented field may hold a value of another type, which then goes to `extra`. @default false */
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
  const { fields } = DECLARATIONS[resource];
  return readRecord(value, { resource, fields, what: resource }, checks) as RecordOf[R];
}

const FILE_HIT: Fields = { ...DECLARATIONS.file.fields, text: { kind: "string" } };

export function parseFileHit(value: unknown, checks: RecordChecks): FileHit {
  return readRecord(value, { resource: "file", fields: FILE_HIT, what: "file" }, checks) as FileHit;
}

/** `what` is the record as messages name it. */
function readRecord(
  value: unknown,
  { resource, fields, what }: { resource: Resource; fields: Fields; what: string },
  checks: RecordChecks,
): object {
  const { url, allowOddFields } = checks;
  const id = recordId(value);
  if (id === null || !isJsonObject(value)) throw unexpectedShape(url, `a ${what} has no usable id`);
  const foreign = allowOddFields ? null : foreignNumberIn(value);
  if (foreign !== null)
    throw unexpectedShape(url, `${what} ${id} holds ${foreign}, a number that JSON does not have`, HANDED_ON);
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
  const { words, isKind } = KINDS[field.kind];
  if (related === undefined && isKind(held)) return held;
  if (checks.allowOddFields) return undefined;
  const came = Array.isArray(held) ? "an array" : `of type ${typeof held}`;
  const fault = `${resource} ${id}: ${name} should be ${words}, and is ${came}`;
  throw unexpectedShape(checks.url, fault, HANDED_ON);
}

const isText = (value: unknown): boolean => typeof value === "string";

const KINDS: Record<FieldKind, { words: string; isKind(value: unknown): boolean }> = {
  string: { words: "a string", isKind: isText },
  datetime: { words: "a string", isKind: isText },
  uri: { words: "a path", isKind: isText },
  boolean: { words: "a boolean", isKind: (value) => typeof value === "boolean" },
  uris: { words: "an array of paths", isKind: (value) => Array.isArray(value) && value.every(isText) },
  embedded: { words: "a whole record", isKind: isJsonObject },
};

/** The values that a service sends beside the documented fields, by name, as they came. */
export type Extra = Readonly<Record<string, unknown>>;

export function extraOf(value: Readonly<Record<string, unknown>>, known: readonly string[]): Extra {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !known.includes(name)));
}

/** The error for a reply that does not have the documented shape. `fault` completes "GET … answered, but". */
export function unexpectedShape(
  url: string,
  fault: string,
  hint = "the service may have another release of this interface, or the base URL is wrong",
): UnexpectedShapeError {
  return new UnexpectedShapeError(`GET ${url} answered, but ${fault}`, { url, hint });
}

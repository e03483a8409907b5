import { otherResource, ownFront, parseResourceUri, type Reference } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Extra } from "../../store/schema/columns.ts";
import { readDate, type Source } from "../walk/read-date.ts";
import { cleanJson, cleanText, type Replacements } from "./clean-text.ts";
import { hashRecord, ignoredIn } from "./record-hash.ts";
import { PLANS, type PlannedField } from "./record-plan.ts";

/** A URI reference of a record, read but not yet looked up. */
type FieldReference = { field: string; position: number; uri: string; target: Reference };

/** Column values by column name, in the form that `load` writes: texts, booleans, and null. */
type Columns = Record<string, string | boolean | null>;

/** One record as rows: its own columns, and its values in other tables. */
export interface NormalizedRecord {
  id: string;
  /** Records with equal content have equal hashes (`hashRecord`). */
  hash: string;
  columns: Columns;
  extra: Extra | null;
  references: FieldReference[];
  /** The id of the embedded project of a version or file. */
  projectId: string | null;
  /** The long texts of a build that go to `build_logs`. They are in `columns` too. */
  logs: Columns | null;
}

/** The same for all records of a page. */
export type NormalizeContext = ReadAs & { replacements: Replacements };

/** How records are read. `ignoredFields` make no record another one (`DOCMIRROR_IGNORED_FIELDS`). @default none */
export type ReadAs = Source & { ignoredFields?: readonly string[] | null };

/**
 * Sorts the fields of one record into columns, references and `extra`, as its declaration says. Nothing is lost but U+0000
 * and lone surrogates. `add` takes the embedded project, and gives its id, or null for none. Throws for a record that
 * cannot be stored.
 */
export function normalizeRecord(
  resource: Resource,
  id: string,
  record: Record<string, unknown>,
  context: NormalizeContext,
  { hash, add }: { hash?: string; add?: (project: unknown) => string | null },
): NormalizedRecord {
  const plan = PLANS[resource];
  const { replacements, baseUrl } = context;
  const front = ownFront(record, resource);
  const refer = (field: PlannedField, position: number, uri: string) =>
    references.push(readReference(field, position, uri, parseResourceUri(uri, baseUrl, front)));
  const columns: Columns = {};
  const references: FieldReference[] = [];
  let values: Record<string, unknown> | null = null;
  let missing: string[] | null = null;
  const keep = (key: string, value: unknown) => {
    values ??= Object.create(null) as Record<string, unknown>;
    values[cleanText(key, replacements)] = cleanJson(value, replacements);
  };

  let known = Object.hasOwn(record, "id") ? 1 : 0;
  let embedded: PlannedField | null = null;
  for (const field of plan.fields) {
    const { name, kind, column } = field;
    const present = Object.hasOwn(record, name);
    if (column !== null) columns[column] = null;
    if (!present) {
      missing ??= [];
      missing.push(name);
      continue;
    }
    known += 1;
    const value = record[name];
    if (kind === "embedded") {
      embedded = field;
    } else if (column === null) {
      // The order of the references is kept. When the value is not a list of texts, it stays in `extra`.
      if (!Array.isArray(value) || value.some((uri) => typeof uri !== "string")) keep(name, value);
      else for (const [at, uri] of value.entries()) refer(field, at, cleanText(uri, replacements));
    } else if (value === null) {
      // The column is null already.
    } else if (kind === "boolean") {
      columns[column] = readBoolean(value);
      if (columns[column] !== value) keep(name, value);
    } else if (kind === "datetime") {
      columns[column] = readDate(value, context)?.text ?? null;
      if (columns[column] !== value) keep(name, value);
    } else if (typeof value !== "string") {
      keep(name, value);
    } else {
      const text = cleanText(value, replacements);
      columns[column] = text;
      if (kind === "uri") refer(field, 0, text);
    }
  }
  if (Object.hasOwn(record, "id") && typeof record.id !== "string") keep("id", record.id);
  const keys = Object.keys(record);
  if (keys.length > known) for (const key of keys) if (!plan.isDocumented.has(key)) keep(key, record[key]);

  let projectId: string | null = null;
  if (embedded !== null) {
    const value = record[embedded.name];
    const other = otherResource(value, "project", baseUrl);
    if (other !== null)
      throw new Error(`the resource_uri of its project names a ${other.slice(0, 40)}, not a project`);
    projectId = add?.(value) ?? null;
    if (projectId === null && value !== null) {
      keep(embedded.name, value);
      if (typeof value === "string") refer(embedded, 0, cleanText(value, replacements));
    }
  }
  return {
    id,
    hash: hash ?? hashOf(resource, record, projectId, context),
    columns,
    extra: extraOf(values, missing),
    references,
    projectId,
    logs: plan.long.length > 0 ? Object.fromEntries(plan.long.map((at) => [at, columns[at] ?? null])) : null,
  };
}

const TRUE = ["true", "1"];
const FALSE = ["false", "0"];

/**
 * A boolean, also as 1 or 0, and as a text of these in any case: other databases and Python write them so. Null for any other value:
 * "yes" or 2 may mean something else.
 */
function readBoolean(value: unknown): boolean | null {
  const word = ["boolean", "number", "string"].includes(typeof value) ? String(value).toLowerCase() : "";
  if (TRUE.includes(word)) return true;
  return FALSE.includes(word) ? false : null;
}

export const hashOf = (
  resource: Resource,
  record: Record<string, unknown>,
  embeddedId: string | null,
  { sourceTimezone, ignoredFields = null }: ReadAs,
) => hashRecord(record, PLANS[resource], embeddedId, sourceTimezone, ignoredIn(resource, ignoredFields));

/** A URI of the wrong resource counts as malformed, because its key would point to an unrelated record. */
function readReference(
  { name: field, target: expected }: PlannedField,
  position: number,
  uri: string,
  target: Reference,
): FieldReference {
  const fits = target.kind !== "record" || target.resource === expected;
  return { field, position, uri, target: fits ? target : { kind: "malformed" } };
}

function extraOf(values: Record<string, unknown> | null, missing: string[] | null): Extra | null {
  return values || missing ? { ...(values && { values }), ...(missing && { missing }) } : null;
}

/** One record as the tables hold it: the inverse of a `NormalizedRecord`. */
export interface RestorableRecord {
  id: string;
  extra: Extra | null;
  /** Column values by name, with dates as `LocalTime.text`. For a build, those of its logs too. */
  columns: Readonly<Record<string, unknown>>;
  /** The URIs of a project's administrators, in their order. */
  users?: readonly string[];
  /** The embedded project of a version or a file in its wire form. Null when there is none. */
  project?: Readonly<Record<string, unknown>> | null;
}

/** The record as it was sent, but for U+0000 and lone surrogates. Documented fields come first, in the documented order. */
export function restoreRecord(
  resource: Resource,
  { id, extra, columns, users = [], project = null }: RestorableRecord,
): Record<string, unknown> {
  const { values = {}, missing = [] } = extra ?? {};
  const record: Record<string, unknown> = {};
  // Not by assignment: a field may be called __proto__.
  const put = (field: string, value: unknown) =>
    Object.defineProperty(record, field, { value, enumerable: true, configurable: true, writable: true });

  record.id = id;
  for (const { name, kind, column } of PLANS[resource].fields) {
    if (missing.length > 0 && missing.includes(name)) continue;
    if (column !== null) record[name] = columns[column] ?? null;
    else record[name] = kind === "uris" ? users : project;
  }
  for (const field of Object.keys(values)) put(field, values[field]);
  return record;
}

import { parseLocalTime } from "../../resources/local-time.ts";
import { otherResource, parseResourceUri } from "../../resources/resource-uri.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Extra } from "../../store/schema/columns.ts";
import { cleanJson, cleanText } from "./clean-text.ts";
import type {
  Columns,
  EmbeddedProjects,
  FieldReference,
  NormalizeContext,
  NormalizedRecord,
} from "./normalized.ts";
import { hashRecord } from "./record-hash.ts";
import { PLANS, type PlannedField } from "./record-plan.ts";

/**
 * Sorts the fields of one record into columns, references and `extra`, as its declaration says. Nothing is lost: together
 * they give the record as it was sent, except for U+0000 and lone surrogates. `projects` takes the embedded project.
 * Throws for a record that cannot be stored.
 */
export function normalizeRecord(
  resource: Resource,
  id: string,
  record: Record<string, unknown>,
  context: NormalizeContext,
  { hash, projects }: { hash?: string; projects?: EmbeddedProjects },
): NormalizedRecord {
  const plan = PLANS[resource];
  const { replacements, baseUrl } = context;
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
      else
        for (const [at, uri] of value.entries())
          references.push(readReference(field, at, cleanText(uri, replacements), baseUrl));
    } else if (value === null) {
      // The column is null already.
    } else if (kind === "boolean") {
      if (typeof value === "boolean") columns[column] = value;
      else keep(name, value);
    } else if (typeof value !== "string") {
      keep(name, value);
    } else if (kind === "datetime") {
      const time = parseLocalTime(value);
      columns[column] = time ? time.text : null;
      if (time?.text !== value) keep(name, value);
    } else {
      const text = cleanText(value, replacements);
      columns[column] = text;
      if (kind === "uri") references.push(readReference(field, 0, text, baseUrl));
    }
  }
  if (Object.hasOwn(record, "id") && typeof record.id !== "string") keep("id", record.id);
  const keys = Object.keys(record);
  if (keys.length > known) for (const key of keys) if (!plan.isDocumented.has(key)) keep(key, record[key]);

  let projectId: string | null = null;
  if (embedded !== null) {
    const value = record[embedded.name];
    projectId = addEmbedded(value, projects, baseUrl);
    if (projectId === null && value !== null) {
      keep(embedded.name, value);
      if (typeof value === "string")
        references.push(readReference(embedded, 0, cleanText(value, replacements), baseUrl));
    }
  }
  return {
    id,
    hash: hash ?? hashRecord(record, plan, projectId),
    columns,
    extra: withoutEmpty(values, missing),
    references,
    projectId,
    logs: plan.long.length === 0 ? null : pick(columns, plan.long),
  };
}

/** A URI of the wrong resource counts as malformed, because its key would point to an unrelated record. */
function readReference(
  { name: field, target: expected }: PlannedField,
  position: number,
  uri: string,
  baseUrl: URL,
): FieldReference {
  const target = parseResourceUri(uri, baseUrl);
  const fits = target.kind !== "record" || target.resource === expected;
  return { field, position, uri, target: fits ? target : { kind: "malformed" } };
}

/** The id of an embedded project. Null when `value` is none. */
function addEmbedded(value: unknown, projects: EmbeddedProjects | undefined, baseUrl: URL): string | null {
  const other = otherResource(value, "project", baseUrl);
  if (other !== null)
    throw new Error(`the resource_uri of its project names a ${other.slice(0, 40)}, not a project`);
  return projects?.add(value) ?? null;
}

function pick(columns: Columns, names: readonly string[]): Columns {
  const picked: Columns = {};
  for (const name of names) picked[name] = columns[name] ?? null;
  return picked;
}

function withoutEmpty(values: Record<string, unknown> | null, missing: string[] | null): Extra | null {
  if (!values && !missing) return null;
  return { ...(values && { values }), ...(missing && { missing }) };
}

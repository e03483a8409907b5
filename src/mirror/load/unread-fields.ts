import { jsonText } from "../../base/text.ts";
import type { Resource } from "../../resources/resources.ts";
import { composed, type TransactionSql } from "../../store/connection/sql.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import { PLANS, type PlannedField } from "../normalize/record-plan.ts";
import { isSilent, isUnread } from "./silent-fields.ts";
import { BUILD_LOGS, columnOf, PROJECT_USERS, RECORD_TABLES, type TableSpec } from "./tables.ts";

/** A field, and a value of it that could not be read. */
interface OddField {
  resource: Resource;
  field: string;
  example: string;
}

interface UnreadField extends OddField {
  /** The number of records with such a value. */
  records: number;
  /** The mirror has a value of it. Null until that was looked up. */
  wasRead: boolean | null;
}

/**
 * The fields whose values a run could read in no record of a list, though some had one. The service writes them in a new form, or always
 * wrote them in one that we do not know.
 */
export interface UnreadFields {
  add(resource: Resource, records: readonly NormalizedRecord[]): void;
  /** A page that was skipped has the fields as they were read before, if they were. */
  skip(resource: Resource): void;
  /** True where a field of the resource is unread so far. Call it before the records are stored. */
  find(tx: TransactionSql, resource: Resource): Promise<boolean>;
  /** The fields that were read before, and in no record of this run; and those that never were, in this many records or more. */
  lost(): UnreadField[];
  /** The references of a list of which none names a record. */
  unnamed(): OddField[];
}

/** Fewer records may have odd values by chance. */
const LEAST_UNREAD = 5;

export function createUnreadFields(): UnreadFields {
  const read = new Set<string>();
  const skipped = new Set<Resource>();
  const named = new Set<string>();
  const found = new Map<string, UnreadField>();
  const unnamed = new Map<string, OddField>();
  /** A page that was skipped may hold what this run could not read, unless the mirror has no value of the field at all. */
  const ofRun = () =>
    [...found].flatMap(([key, one]) =>
      read.has(key) || (skipped.has(one.resource) && one.wasRead !== false) ? [] : [one],
    );
  const lost = () => ofRun().filter(({ wasRead, records }) => wasRead === true || records >= LEAST_UNREAD);
  /** A reference may be read as a text, and yet name no record. */
  function noteUnnamed(key: string, resource: Resource, field: string, records: readonly NormalizedRecord[]) {
    const references = records.flatMap((record) => record.references.filter((one) => one.field === field));
    if (references.some(({ target }) => target.kind === "record")) named.add(key);
    const odd = records.find(({ extra }) => isUnread(extra, field))?.extra?.values?.[field];
    const value = odd ?? references[0]?.uri;
    if (value === undefined || named.has(key)) return;
    unnamed.set(key, { resource, field, example: exampleOf(value) });
  }

  return {
    add(resource, records) {
      for (const field of PLANS[resource].fields) {
        const { name, kind } = field;
        const key = `${resource}.${name}`;
        if (kind === "uri" && !named.has(key)) noteUnnamed(key, resource, name, records);
        if (read.has(key)) continue;
        if (records.some((record) => isRead(record, field))) read.add(key);
        const odd = records
          .filter(({ extra }) => isUnread(extra, name))
          .filter((one) => isSilent(one, field));
        if (odd.length === 0) continue;
        const before = found.get(key);
        const example = before?.example ?? exampleOf(odd[0]?.extra?.values?.[name]);
        const count = (before?.records ?? 0) + odd.length;
        found.set(key, { resource, field: name, example, wasRead: before?.wasRead ?? null, records: count });
      }
    },
    skip(resource) {
      skipped.add(resource);
      for (const { name } of PLANS[resource].fields) named.add(`${resource}.${name}`);
    },
    async find(tx, resource) {
      const own = [...found].flatMap(([key, one]) =>
        one.resource === resource && !read.has(key) ? [one] : [],
      );
      for (const one of own.filter(({ wasRead }) => wasRead === null)) {
        const [{ table }, column] = placeOf(resource, one.field);
        const known = await composed(tx)`
          select from ${table} where ${columnOf(table, column)} is not null limit 1`;
        one.wasRead = known.length > 0;
      }
      return ofRun().some((one) => one.resource === resource);
    },
    lost,
    unnamed: () => {
      const told = new Set(lost().map(({ resource, field }) => `${resource}.${field}`));
      return [...unnamed].flatMap(([key, one]) => (named.has(key) || told.has(key) ? [] : [one]));
    },
  };
}

const exampleOf = (value: unknown) => jsonText(value, 60).toWellFormed();

/** True where a value of the field was read. A null or an empty list shows no form. */
function isRead({ columns, references, projectId }: NormalizedRecord, { name, kind, column }: PlannedField) {
  if (column !== null) return (columns[column] ?? null) !== null;
  return (kind === "embedded" && projectId !== null) || references.some(({ field }) => field === name);
}

/** The table and the column that hold the values of a field. */
function placeOf(resource: Resource, name: string): [TableSpec, string] {
  const { fields, long } = PLANS[resource];
  const { kind, column } = fields.find((field) => field.name === name) ?? {};
  if (long.includes(name)) return [BUILD_LOGS, name];
  if (kind === "uris") return [PROJECT_USERS, "user_uri"];
  return [RECORD_TABLES[resource], column ?? `${name}_id`];
}

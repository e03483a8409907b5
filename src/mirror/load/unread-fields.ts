import { jsonText } from "../../base/text.ts";
import type { Resource } from "../../resources/resources.ts";
import { composed, type TransactionSql } from "../../store/connection/sql.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import { PLANS } from "../normalize/record-plan.ts";
import { isUnread } from "./silent-fields.ts";
import { columnOf, RECORD_TABLES, recordsAs } from "./tables.ts";

/** A field, and a value of it that could not be read. */
interface OddField {
  resource: Resource;
  field: string;
  example: string;
}

interface UnreadField extends OddField {
  column: string;
  /** The number of records with such a value. */
  records: number;
  /** The mirror has a value of it. Null until that was looked up. */
  wasRead: boolean | null;
}

/** The fields whose values a run could read in no record, though some had one: the service writes them in a new form. */
export interface UnreadFields {
  add(resource: Resource, records: readonly NormalizedRecord[]): void;
  /** A page that was skipped has the fields as they were read before. */
  skip(resource: Resource): void;
  /** True where a field of the resource is unread so far that was read before. Call it before the records are stored. */
  find(tx: TransactionSql, resource: Resource): Promise<boolean>;
  /** The fields that were read before, and in no record of this run. */
  lost(): UnreadField[];
  /** The references of a list of which none names a record. */
  unnamed(): OddField[];
}

/** The fields with a column in the table of their resource. */
const fieldsOf = (resource: Resource) =>
  PLANS[resource].fields.flatMap(({ name, kind, column }) =>
    column === null || PLANS[resource].long.includes(name) ? [] : [{ name, kind, column }],
  );

export function createUnreadFields(): UnreadFields {
  const read = new Set<string>();
  const named = new Set<string>();
  const found = new Map<string, UnreadField>();
  const unnamed = new Map<string, OddField>();
  const ofRun = () => [...found].flatMap(([key, one]) => (read.has(key) ? [] : [one]));
  /** A reference may be read as a text, and yet name no record. */
  function noteUnnamed(key: string, resource: Resource, field: string, records: readonly NormalizedRecord[]) {
    const references = records.flatMap((record) => record.references.filter((one) => one.field === field));
    if (references.some(({ target }) => target.kind === "record")) named.add(key);
    const odd = records.find(({ extra }) => isUnread(extra, field))?.extra?.values?.[field];
    const value = odd ?? references[0]?.uri;
    if (value === undefined || named.has(key)) return;
    unnamed.set(key, { resource, field, example: jsonText(value, 60).toWellFormed() });
  }

  return {
    add(resource, records) {
      for (const { name: field, kind, column } of fieldsOf(resource)) {
        const key = `${resource}.${field}`;
        if (kind === "uri" && !named.has(key)) noteUnnamed(key, resource, field, records);
        if (read.has(key)) continue;
        if (records.some(({ columns }) => columns[column] !== null)) read.add(key);
        const odd = records.flatMap(({ extra }) => (isUnread(extra, field) ? [extra?.values?.[field]] : []));
        if (odd.length === 0) continue;
        const before = found.get(key);
        const { example, wasRead } = before ?? {
          example: jsonText(odd[0], 60).toWellFormed(),
          wasRead: null,
        };
        const count = (before?.records ?? 0) + odd.length;
        found.set(key, { resource, field, column, example, wasRead, records: count });
      }
    },
    skip(resource) {
      for (const { name } of fieldsOf(resource)) {
        read.add(`${resource}.${name}`);
        named.add(`${resource}.${name}`);
      }
    },
    async find(tx, resource) {
      const own = ofRun().filter((one) => one.resource === resource);
      for (const one of own.filter(({ wasRead }) => wasRead === null)) {
        const record = recordsAs(resource, "record");
        const known = await composed(tx)`
          select from ${RECORD_TABLES[resource].table} as ${record} where ${columnOf(record, one.column)} is not null limit 1`;
        one.wasRead = known.length > 0;
      }
      return own.some(({ wasRead }) => wasRead);
    },
    lost: () => ofRun().filter(({ wasRead }) => wasRead),
    unnamed: () =>
      [...unnamed].flatMap(([key, one]) => (named.has(key) || found.get(key)?.wasRead ? [] : [one])),
  };
}

import type { Reference } from "../../resources/record-id.ts";
import { REFERENCE_FIELDS, RESOURCES, type Resource } from "../../resources/resources.ts";
import { compose, runStatement, type Sql } from "../../store/connection/sql.ts";
import { createIdSet, type IdSet } from "../walk/id-set.ts";
import { RECORD_TABLES } from "./tables.ts";

/** The resources that others refer to. All their ids must be known to turn references into keys. */
const REFERRED = new Set(REFERENCE_FIELDS.map(({ target }) => target));

const READ_ROWS = 5000;

/** Knows which records are in the mirror, without asking Postgres for every page. */
export interface KnownKeys {
  /** Prepares for records with these references. Await it before you call the other methods. */
  prepare(references: Iterable<Reference>): Promise<void>;
  /** The key for a reference, or null while the record is not here. */
  resolve(reference: Reference): string | null;
  /** True where it is certain that no row has this id. Then no look-up is needed. */
  isNew(resource: Resource, id: string): boolean;
  /** Adds a row of the current transaction. */
  add(resource: Resource, id: string): void;
  /** Removes an added row after only its part of the transaction was rolled back. */
  drop(resource: Resource, id: string): void;
  commit(): void;
  /** Removes the rows added since the last commit. */
  rollback(): void;
}

/** `isComplete`: the ids of all rows are here. */
type Known = { ids: IdSet; isComplete: boolean; added: Set<string> };

function createKeys(
  prepare: (known: Record<Resource, Known>, references: Iterable<Reference>) => Promise<void>,
): KnownKeys {
  const known = Object.fromEntries(
    RESOURCES.map((resource) => [resource, { ids: createIdSet(), isComplete: false, added: new Set() }]),
  ) as Record<Resource, Known>;
  const has = (resource: Resource, id: string) =>
    known[resource].ids.has(id) || known[resource].added.has(id);
  return {
    prepare: (references) => prepare(known, references),
    resolve: (reference) =>
      reference.kind === "record" && has(reference.resource, reference.key) ? reference.key : null,
    isNew: (resource, id) => known[resource].isComplete && !has(resource, id),
    add(resource, id) {
      if (known[resource].isComplete) known[resource].added.add(id);
    },
    drop: (resource, id) => void known[resource].added.delete(id),
    commit() {
      for (const { ids, added } of Object.values(known)) {
        for (const id of added) ids.add(id);
        added.clear();
      }
    },
    rollback() {
      for (const { added } of Object.values(known)) added.clear();
    },
  };
}

/** Reads all ids once; of files and builds, to which nothing refers, only whether there are any, for a quick first night. */
export function createKnownKeys(sql: Sql): KnownKeys {
  let prepared: Promise<void> | undefined;

  /** Windows of all tables come with one statement. By keys: a cursor of the driver ends with its connection as if it had read all. */
  async function readAll(known: Record<Resource, Known>): Promise<void> {
    let windows = RESOURCES.map((resource) => ({ resource, after: "" }));
    while (windows.length > 0) {
      const queries = windows.map(({ resource, after }) => {
        const { table } = RECORD_TABLES[resource];
        // One row with all ids: rows cost the driver more.
        return compose`
          select ${resource} as resource, coalesce(json_agg(id), '[]')::text as ids, max(id) as last
          from (
            select ${table.id} as id from ${table} where ${table.id} > ${after} order by ${table.id} limit ${sizeOf(resource)}
          ) as ${compose.identifier(resource)}`;
      });
      const rows = await runStatement<{ resource: Resource; ids: string; last: string }>(
        sql,
        compose.join(queries, compose` union all `),
      );
      windows = [];
      for (const { resource, ids, last } of rows) {
        const found = JSON.parse(ids) as string[];
        const own = known[resource];
        own.isComplete = found.length < sizeOf(resource);
        if (!REFERRED.has(resource)) continue;
        for (const id of found) own.ids.add(id);
        if (!own.isComplete) windows.push({ resource, after: last });
      }
    }
  }

  return createKeys(async (known) => {
    prepared ??= readAll(known);
    await prepared.catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
  });
}

/** The rows of a window. Of a table that nothing refers to one is enough to know that it is not empty. */
const sizeOf = (resource: Resource) => (REFERRED.has(resource) ? READ_ROWS : 1);

/** For a run that loads only a few pages: it looks up the references of each page, and `isNew` is always false. */
export function createLookedUpKeys(sql: Sql): KnownKeys {
  return createKeys(async (known, references) => {
    const wanted = new Map<Resource, string[]>();
    for (const reference of references) {
      if (reference.kind !== "record") continue;
      const { resource, key } = reference;
      if (!known[resource].ids.has(key)) wanted.set(resource, [...(wanted.get(resource) ?? []), key]);
    }
    if (wanted.size === 0) return;
    const queries = [...wanted].map(([resource, keys]) => {
      const { table } = RECORD_TABLES[resource];
      return compose`
        select ${resource} as resource, ${table.id} from ${table} where ${table.id} = any (${compose.param(keys)}::text[])`;
    });
    const rows = await runStatement<{ resource: Resource; id: string }>(
      sql,
      compose.join(queries, compose` union all `),
    );
    for (const { resource, id } of rows) known[resource].ids.add(id);
  });
}

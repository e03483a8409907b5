import type { Reference } from "../../resources/record-id.ts";
import { REFERENCE_FIELDS, RESOURCES, type Resource } from "../../resources/resources.ts";
import { compose, composed, type Sql } from "../../store/connection/sql.ts";
import { createIdSet, type IdSet } from "../walk/id-set.ts";
import { RECORD_TABLES } from "./tables.ts";

/** The resources that others refer to. All their ids must be known to turn references into keys. */
const REFERRED = new Set(REFERENCE_FIELDS.map(({ target }) => target));

const READ_ROWS = 5000;

/** Knows which records are in the mirror, without asking Postgres for every page. */
export type KnownKeys = ReturnType<typeof createKeys>;

/** `isComplete`: the ids of all rows are here. */
type Known = { ids: IdSet; isComplete: boolean; added: Set<string> };

function createKeys(
  prepare: (known: Record<Resource, Known>, references: Iterable<Reference>) => Promise<void>,
) {
  const known = Object.fromEntries(
    RESOURCES.map((resource) => [resource, { ids: createIdSet(), isComplete: false, added: new Set() }]),
  ) as Record<Resource, Known>;
  const has = (resource: Resource, id: string) =>
    known[resource].ids.has(id) || known[resource].added.has(id);
  return {
    /** Prepares for records with these references. Await it before you call the other methods. */
    prepare: (references: Iterable<Reference>) => prepare(known, references),
    /** The key for a reference, or null while the record is not here. */
    resolve: (reference: Reference): string | null =>
      reference.kind === "record" && has(reference.resource, reference.key) ? reference.key : null,
    /** Whether it is certain that no row has this id. Then no look-up is needed. */
    isNew: (resource: Resource, id: string): boolean => known[resource].isComplete && !has(resource, id),
    /** Adds a row of the current transaction. */
    add(resource: Resource, id: string): void {
      if (known[resource].isComplete) known[resource].added.add(id);
    },
    /** Removes an added row after only its part of the transaction was rolled back. */
    drop: (resource: Resource, id: string): void => void known[resource].added.delete(id),
    commit(): void {
      for (const { ids, added } of Object.values(known)) {
        for (const id of added) ids.add(id);
        added.clear();
      }
    },
    /** Removes the rows added since the last commit. */
    rollback(): void {
      for (const { added } of Object.values(known)) added.clear();
    },
  };
}

/** Reads all ids once; of files and builds, to which nothing refers, only whether there are any, for a quick first night. */
export function createKnownKeys(sql: Sql): KnownKeys {
  let prepared: Promise<unknown> | undefined;

  async function read(resource: Resource, entry: Known): Promise<void> {
    const { table } = RECORD_TABLES[resource];
    if (!REFERRED.has(resource)) {
      const rows = await composed(sql)`select from ${table} limit 1`;
      entry.isComplete = rows.length === 0;
      return;
    }
    // By keys: a cursor of the driver ends with its connection as if it had read all. Rows cost the driver more than ids.
    for (let after: string | null = ""; after !== null; ) {
      const [row]: { ids: string; last: string | null }[] = await composed(sql)`
        select coalesce(json_agg(id), '[]')::text as ids, max(id) as last
        from (
          select ${table.id} as id from ${table} where ${table.id} > ${after} order by ${table.id} limit ${READ_ROWS}
        ) as known`;
      for (const id of JSON.parse(row?.ids ?? "[]") as string[]) entry.ids.add(id);
      after = row?.last ?? null;
    }
    entry.isComplete = true;
  }

  return createKeys(async (known) => {
    prepared ??= Promise.all(RESOURCES.map((resource) => read(resource, known[resource])));
    await prepared.catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
  });
}

/** For a run that loads only a few pages: it looks up the references of each page, and `isNew` is always false. */
export function createLookedUpKeys(sql: Sql): KnownKeys {
  return createKeys(async (known, references) => {
    const wanted = new Map<Resource, string[]>();
    for (const reference of references) {
      if (reference.kind !== "record") continue;
      const { resource, key } = reference;
      if (!known[resource].ids.has(key)) wanted.set(resource, [...(wanted.get(resource) ?? []), key]);
    }
    for (const [resource, keys] of wanted) {
      const { table } = RECORD_TABLES[resource];
      const rows = await composed(sql)<{ id: string }>`
        select ${table.id} from ${table} where ${table.id} = any (${compose.param(keys)}::text[])`;
      for (const { id } of rows) known[resource].ids.add(id);
    }
  });
}

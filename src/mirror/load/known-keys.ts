import type { Reference } from "../../resources/record-id.ts";
import { REFERENCE_FIELDS, RESOURCES, type Resource } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { createIdSet, type IdSet } from "../walk/id-set.ts";
import { RECORD_TABLES } from "./tables.ts";

/** The resources that others refer to. All their ids must be known to turn references into keys. */
const REFERRED = new Set(REFERENCE_FIELDS.map(({ target }) => target));

const READ_ROWS = 5000;

/** Knows which records are in the mirror, without asking Postgres for every page. */
export interface KnownKeys {
  /** Prepares for records with these references. Await it before you call the other methods. */
  prepare(references: Iterable<Reference>): Promise<void>;
  /** The id to store as key for a reference, or null while the record is not here. */
  resolve(reference: Reference): string | null;
  /** Whether it is certain that no row has this id. Then no look-up is needed. */
  isNew(resource: Resource, id: string): boolean;
  /** Adds a row of the current transaction. */
  add(resource: Resource, id: string): void;
  /** Removes an added row after only its part of the transaction was rolled back. */
  drop(resource: Resource, id: string): void;
  commit(): void;
  /** Removes the rows added since the last commit. */
  rollback(): void;
}

interface Known {
  ids: IdSet;
  /** Whether the ids of all rows are here. */
  isComplete: boolean;
  added: Set<string>;
}

function createKeys(
  prepare: (known: Map<Resource, Known>, references: Iterable<Reference>) => Promise<void>,
): KnownKeys {
  const known = new Map<Resource, Known>(
    RESOURCES.map((resource) => [resource, { ids: createIdSet(), isComplete: false, added: new Set() }]),
  );
  const has = (resource: Resource, id: string) => {
    const entry = known.get(resource);
    return entry !== undefined && (entry.ids.has(id) || entry.added.has(id));
  };
  return {
    prepare: (references) => prepare(known, references),
    resolve: (reference) =>
      reference.kind === "record" && has(reference.resource, reference.key) ? reference.key : null,
    isNew: (resource, id) => known.get(resource)?.isComplete === true && !has(resource, id),
    add(resource, id) {
      const entry = known.get(resource);
      if (entry?.isComplete) entry.added.add(id);
    },
    drop: (resource, id) => void known.get(resource)?.added.delete(id),
    commit() {
      for (const entry of known.values()) {
        for (const id of entry.added) entry.ids.add(id);
        entry.added.clear();
      }
    },
    rollback() {
      for (const entry of known.values()) entry.added.clear();
    },
  };
}

/**
 * Reads all ids once, for a run that loads whole lists. Rows are never removed and one run writes at a time, so a known
 * id stays known. Nothing refers to files and builds: their ids are kept only when the table was empty, for a first
 * night without look-ups.
 */
export function createKnownKeys(sql: Sql): KnownKeys {
  let prepared: Promise<unknown> | undefined;

  async function read(resource: Resource, entry: Known): Promise<void> {
    const { table } = RECORD_TABLES[resource];
    if (!REFERRED.has(resource)) {
      const [row] = await runStatement<{ empty: boolean }>(
        sql,
        compose`select not exists (select from ${table}) as empty`,
      );
      entry.isComplete = row?.empty === true;
      return;
    }
    // By keys: when the connection is lost, a cursor of the driver ends as if it had read all rows. Each
    // batch is one row, because rows cost the driver more than ids.
    for (let after: string | null = ""; after !== null; ) {
      const [row]: { ids: string; last: string | null }[] = await runStatement(
        sql,
        compose`
          select coalesce(json_agg(id), '[]')::text as ids, max(id) as last
          from (
            select ${table.id} as id from ${table} where ${table.id} > ${after} order by ${table.id} limit ${READ_ROWS}
          ) as known`,
      );
      for (const id of JSON.parse(row?.ids ?? "[]") as string[]) entry.ids.add(id);
      after = row?.last ?? null;
    }
    entry.isComplete = true;
  }

  return createKeys((known) => {
    prepared ??= Promise.all([...known].map(([resource, entry]) => read(resource, entry))).catch(
      (error: unknown) => {
        prepared = undefined;
        throw error;
      },
    );
    return prepared.then(() => {});
  });
}

/**
 * Known keys for a run that loads only a few pages: it looks up the references of each page. Its knowledge is never
 * complete, so `isNew` is always false and every record is looked up.
 */
export function createLookedUpKeys(sql: Sql): KnownKeys {
  return createKeys(async (known, references) => {
    const wanted = new Map<Resource, string[]>();
    for (const reference of references) {
      if (reference.kind !== "record" || known.get(reference.resource)?.ids.has(reference.key)) continue;
      wanted.set(reference.resource, [...(wanted.get(reference.resource) ?? []), reference.key]);
    }
    for (const [resource, keys] of wanted) {
      const { table } = RECORD_TABLES[resource];
      const rows = await runStatement<{ id: string }>(
        sql,
        compose`select ${table.id} from ${table} where ${table.id} = any (${compose.param(keys)}::text[])`,
      );
      for (const { id } of rows) known.get(resource)?.ids.add(id);
    }
  });
}

/**
 * The views and functions of the reports that a database has: `sync.definitions`. The program contains their
 * texts and re-creates those that differ, so a changed formula needs no migration. The texts and the sentences are
 * passed in because `store` may not import `report`.
 */
import type { PgTable } from "drizzle-orm/pg-core";
import type { AnySql, TransactionSql } from "../connection/sql.ts";
import { dropStatements, rebuildObjects, replaceObjects } from "./defined-objects.ts";
import type { Dictionary } from "./dictionary.ts";

export interface Definition {
  /** The name with its schema, such as `report.failing_now`. */
  name: string;
  /** One or more statements. The first is a `create or replace`, and so is each that adds a function of this name. */
  text: string;
  /** SHA-256 of the text and of the hashes of all definitions that it names: it changes with any of them. */
  hash: string;
}

export interface Definitions {
  /** The version of the program that contains them. */
  version: string;
  /** What the relations and their columns mean. */
  dictionary: Dictionary;
  /** The same for schema `report_people`. */
  people: Dictionary;
  /** The tables of what is stored for the reports. */
  tables: readonly PgTable[];
  /** Each comes after the ones that it names. */
  inOrder: readonly Definition[];
}

export interface DefinitionChanges {
  /** Definitions that the database lacks or has with another text, in the order of creation. */
  changed: Definition[];
  /** Names that the database has and the program does not. */
  gone: string[];
  /** Names from `changed` and `gone` that a later version of the program wrote. */
  newer: string[];
}

type Stored = Pick<Definition, "name" | "hash"> & { version: string };

/** Compares the definitions of the database with those of the program. Changes nothing. */
export async function findDefinitionChanges(
  sql: AnySql,
  { version, inOrder }: Definitions,
): Promise<DefinitionChanges> {
  const stored = new Map((await findStored(sql)).map((row) => [row.name, row]));
  const changed = inOrder.filter(({ name, hash }) => stored.get(name)?.hash !== hash);
  const known = new Set(inOrder.map(({ name }) => name));
  const gone = [...stored.keys()].filter((name) => !known.has(name));
  const newer = [...changed.map(({ name }) => name), ...gone].filter((name) =>
    isLater(stored.get(name)?.version ?? "", version),
  );
  return { changed, gone, newer };
}

/** Re-creates what changed, drops what is gone, keeps grants. Throws StoreError if a user's view prevents it. */
export async function applyDefinitions(
  tx: TransactionSql,
  { changed, gone }: Pick<DefinitionChanges, "changed" | "gone">,
  version: string,
): Promise<void> {
  if (changed.length === 0 && gone.length === 0) return;
  if (!(await replaceObjects(tx, changed, gone))) await rebuildObjects(tx, changed, gone);
  await tx`delete from sync.definitions where name = any (${gone})`;
  const rows = JSON.stringify(changed.map(({ name, hash }) => ({ name, hash })));
  await tx`
    insert into sync.definitions (name, hash, version, defined_at)
    select name, hash, ${version}, now() from jsonb_to_recordset(${rows}::text::jsonb) as changed (name text, hash text)
    on conflict (name) do update set hash = excluded.hash, version = excluded.version, defined_at = excluded.defined_at`;
}

/** What `applyDefinitions` tries first. Where Postgres refuses to replace, it drops and creates again. */
export async function definitionSql(
  sql: AnySql,
  { changed, gone }: Pick<DefinitionChanges, "changed" | "gone">,
): Promise<string> {
  const dropped = gone.length === 0 ? [] : await dropStatements(sql, gone);
  return [
    ...changed.map(({ name, text }) => `-- ${name}\n${text}`),
    ...dropped.map((statement) => `${statement};\n`),
  ].join("\n");
}

async function findStored(sql: AnySql): Promise<Stored[]> {
  const [found] = await sql`
    select from pg_class join pg_namespace as space on space.oid = relnamespace
    where nspname = 'sync' and relname = 'definitions'`;
  return found === undefined
    ? []
    : [...(await sql<Stored[]>`select name, hash, version from sync.definitions`)];
}

/** A pre-release, such as "1.2.0-beta.1", counts as its release. */
function isLater(version: string, than: string): boolean {
  const [one = "", other = ""] = [version, than].map((text) => text.split("-")[0]);
  return one.localeCompare(other, "en", { numeric: true }) > 0;
}

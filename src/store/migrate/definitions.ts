/**
 * The views and functions of the reports that a database has: `sync.definitions`. The program contains their
 * texts and re-creates those that differ, so a changed formula needs no migration. The texts and the sentences are
 * passed in because `store` may not import `report`.
 */
import type { PgTable } from "drizzle-orm/pg-core";
import { StoreError } from "../../base/errors.ts";
import { type AnySql, runText, statement, type TransactionSql } from "../connection/sql.ts";
import { sqlstateOf } from "../connection/store-errors.ts";
import type { StoredDefinition } from "./migration-ledger.ts";
import type { Dictionary } from "./report-comments.ts";

const DEFINED_OBJECTS = statement<DefinedObject>("defined_objects", import.meta.url);

export interface Definition {
  /** The name with its schema, such as `report.failing_now`. */
  name: string;
  /** One or more statements. The first is a `create or replace`, and so is each that adds a function of this name. */
  text: string;
  /** SHA-256 of the text and of the hashes of all definitions that it names: it changes with any of them. */
  hash: string;
}

export interface Definitions {
  version: string;
  /** The meaning of the relations and their columns. */
  dictionary: Dictionary;
  /** The same for schema `report_people`. */
  people: Dictionary;
  tables: readonly PgTable[];
  /** Each comes after the ones that it names. */
  inOrder: readonly Definition[];
}

/** The differences between the definitions of a database and those of the program. */
export interface DefinitionChanges {
  /** The database lacks them or has another text, in the order of creation. */
  changed: readonly Definition[];
  /** The names of those that the program does not have. */
  gone: readonly string[];
  /** The names of those that a later version of the program wrote. */
  newer: readonly string[];
  /** The last version that wrote any; null where that is none after this program's. */
  latest: string | null;
}

export function compareDefinitions(
  rows: readonly StoredDefinition[],
  { version, inOrder }: Definitions,
): DefinitionChanges {
  const stored = new Map(rows.map((row) => [row.name, row]));
  const changed = inOrder.filter(({ name, hash }) => stored.get(name)?.hash !== hash);
  const known = new Set(inOrder.map(({ name }) => name));
  const gone = [...stored.keys()].filter((name) => !known.has(name));
  const newer = [...names(changed), ...gone].filter((name) =>
    isLater(stored.get(name)?.version ?? "", version),
  );
  const latest = rows.reduce((most, row) => (isLater(row.version, most) ? row.version : most), version);
  return { changed, gone, newer, latest: latest === version ? null : latest };
}

/** Re-creates what changed, drops what is gone, keeps grants. Throws StoreError if a user's view prevents it. */
export async function applyDefinitions(
  tx: TransactionSql,
  { changed, gone }: Pick<DefinitionChanges, "changed" | "gone">,
  version: string,
): Promise<void> {
  if (changed.length === 0 && gone.length === 0) return;
  if (!(await replaceObjects(tx, changed, gone))) await rebuildObjects(tx, changed, gone);
  await tx`delete from sync.definitions where name = any (${gone as string[]})`;
  const rows = JSON.stringify(changed.map(({ name, hash }) => ({ name, hash })));
  await tx`
    insert into sync.definitions (name, hash, version, defined_at)
    select name, hash, ${version}, now() from jsonb_to_recordset(${rows}::text::jsonb) as changed (name text, hash text)
    on conflict (name) do update set hash = excluded.hash, version = excluded.version, defined_at = excluded.defined_at`;
}

/** The first try of `applyDefinitions`. Where Postgres refuses to replace, that drops and creates again. */
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

/** A pre-release, such as "1.2.0-beta.1", counts as its release. */
function isLater(version: string, than: string): boolean {
  const [one = "", other = ""] = [version, than].map((text) => text.split("-")[0]);
  return one.localeCompare(other, "en", { numeric: true }) > 0;
}

// The text that runs from here on is from the files of `src/report`, or has names that the catalog quoted.

type Created = Pick<Definition, "name" | "text">;

interface DefinedObject {
  name: string;
  kind: "view" | "function";
  /** As SQL names it: a function with its parameter types. */
  identity: string;
  /** The grants to roles other than the owner. */
  rights: { privilege: string; grantee: string; isGrantable: boolean }[];
}

const AMBIGUOUS_FUNCTION = "42725";
const DEPENDENTS_EXIST = "2BP01";
/** Class 42: it does not fit the existing objects. One that is wrong by itself fails in the rebuild too. */
const NOT_REPLACEABLE = /^(?:42|2BP01)/;

/**
 * Replaces existing objects, so that grants, comments and the user's own views stay, and drops those in
 * `gone`. Where that is impossible it changes nothing and returns false: a column would change or go, or a
 * function would get other parameters or another result.
 */
async function replaceObjects(tx: TransactionSql, created: readonly Created[], gone: readonly string[]) {
  try {
    await tx.savepoint(async (savepoint) => {
      for (const { text } of created) await runText(savepoint, text);
      const objects = await findObjects(savepoint, names(created));
      // A text may hold several functions of one name. One with other parameters does not replace the old one: both exist then.
      const made = created.flatMap(({ text }) => text.match(/^create or replace /gim) ?? []);
      if (objects.length > made.length) throw Object.assign(new Error(), { code: AMBIGUOUS_FUNCTION });
      await dropObjects(savepoint, gone);
    });
    return true;
  } catch (error) {
    if (NOT_REPLACEABLE.test(sqlstateOf(error) ?? "")) return false;
    throw error;
  }
}

async function rebuildObjects(tx: TransactionSql, created: readonly Created[], gone: readonly string[]) {
  const before = await findObjects(tx, names(created));
  await dropObjects(tx, [...names(created), ...gone]);
  for (const { text } of created) await runText(tx, text);
  for (const object of await findObjects(tx, names(created))) {
    const alike = before.filter(({ name }) => name === object.name);
    const old = alike.find(({ identity }) => identity === object.identity) ?? alike[0];
    for (const statement of old ? rightsStatements(object, old.rights) : []) await runText(tx, statement);
  }
}

/** The statements that give a new object the grants of the old one. */
function rightsStatements({ kind, identity, rights }: DefinedObject, wanted: DefinedObject["rights"]) {
  const object = kind === "function" ? `function ${identity}` : identity;
  const isIn = (list: DefinedObject["rights"]) => {
    const known = new Set(list.map((right) => JSON.stringify(right)));
    return (right: DefinedObject["rights"][number]) => known.has(JSON.stringify(right));
  };
  const [isWanted, isThere] = [isIn(wanted), isIn(rights)];
  return [
    ...rights
      .filter((right) => !isWanted(right))
      .map(({ privilege, grantee }) => `revoke ${privilege} on ${object} from ${grantee}`),
    ...wanted
      .filter((right) => !isThere(right))
      .map(({ privilege, grantee, isGrantable }) => {
        return `grant ${privilege} on ${object} to ${grantee}${isGrantable ? " with grant option" : ""}`;
      }),
  ];
}

/** One statement a kind, so no order matters. Without `cascade`, which would drop the user's objects too. */
async function dropStatements(sql: AnySql, dropped: readonly string[]): Promise<string[]> {
  const objects = await findObjects(sql, dropped);
  return ["view", "function"].flatMap((kind) => {
    const identities = objects.filter((object) => object.kind === kind).map(({ identity }) => identity);
    return identities.length === 0 ? [] : [`drop ${kind} ${identities.join(", ")}`];
  });
}

async function dropObjects(tx: TransactionSql, dropped: readonly string[]): Promise<void> {
  for (const statement of await dropStatements(tx, dropped)) {
    try {
      await runText(tx, statement);
    } catch (error) {
      if (sqlstateOf(error) !== DEPENDENTS_EXIST) throw error;
      const { detail } = error as { detail?: string };
      throw new StoreError(`could not re-create the views of the reports: ${detail} (${DEPENDENTS_EXIST})`, {
        cause: error,
        sqlstate: DEPENDENTS_EXIST,
        hint: "drop your own views that use them, run `docmirror migrate`, then create your views again",
      });
    }
  }
}

/** Sorted by name. An overloaded function appears once for each signature. */
function findObjects(sql: AnySql, wanted: readonly string[]): Promise<DefinedObject[]> {
  return DEFINED_OBJECTS(sql, { wanted: [...wanted] });
}

function names(created: readonly Created[]): string[] {
  return created.map(({ name }) => name);
}

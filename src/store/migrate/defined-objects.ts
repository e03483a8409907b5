/**
 * Views and functions as the catalog has them. They are replaced where Postgres allows it. Otherwise they are
 * dropped and created again, and their grants are restored. What runs here as text is from the files of `report/sql`,
 * or has names that the catalog quoted.
 */
import { StoreError } from "../../base/errors.ts";
import { runText } from "../connection/run-statement.ts";
import type { AnySql, TransactionSql } from "../connection/sql.ts";
import { sqlstateOf } from "../connection/store-errors.ts";

/** A view or function to create. */
interface Created {
  name: string;
  text: string;
}

interface Right {
  privilege: string;
  grantee: string;
  isGrantable: boolean;
}

interface DefinedObject {
  /** With its schema. */
  name: string;
  kind: "view" | "function";
  /** As SQL names it: a function with its parameter types. */
  identity: string;
  /** The grants to roles other than the owner. */
  rights: Right[];
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
export async function replaceObjects(
  tx: TransactionSql,
  created: readonly Created[],
  gone: readonly string[],
): Promise<boolean> {
  try {
    await tx.savepoint(async (savepoint) => {
      for (const { text } of created) await runText(savepoint, text);
      const objects = await findObjects(savepoint, names(created));
      // A function with other parameters does not replace the old one: both exist then.
      if (objects.length > countObjects(created))
        throw Object.assign(new Error(), { code: AMBIGUOUS_FUNCTION });
      await dropObjects(savepoint, gone);
    });
    return true;
  } catch (error) {
    if (NOT_REPLACEABLE.test(sqlstateOf(error) ?? "")) return false;
    throw error;
  }
}

/** Drops and re-creates all objects, drops those in `gone`, and restores the grants. */
export async function rebuildObjects(
  tx: TransactionSql,
  created: readonly Created[],
  gone: readonly string[],
): Promise<void> {
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
function rightsStatements({ kind, identity, rights }: DefinedObject, wanted: readonly Right[]): string[] {
  const object = kind === "function" ? `function ${identity}` : identity;
  const has = (list: readonly Right[], one: Right) =>
    list.some((other) => JSON.stringify(other) === JSON.stringify(one));
  return [
    ...rights
      .filter((right) => !has(wanted, right))
      .map(({ privilege, grantee }) => `revoke ${privilege} on ${object} from ${grantee}`),
    ...wanted
      .filter((right) => !has(rights, right))
      .map(
        ({ privilege, grantee, isGrantable }) =>
          `grant ${privilege} on ${object} to ${grantee}${isGrantable ? " with grant option" : ""}`,
      ),
  ];
}

/** One statement a kind, so no order matters. Without `cascade`, which would drop the user's objects too. */
export async function dropStatements(sql: AnySql, dropped: readonly string[]): Promise<string[]> {
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
  return sql<DefinedObject[]>`
    with object as (
      select nspname || '.' || relname as name, 'view' as kind, format('%I.%I', nspname, relname) as identity,
        relowner as owner, coalesce(relacl, acldefault('r', relowner)) as rights
      from pg_class join pg_namespace as space on space.oid = relnamespace
      where relkind = 'v'
      union all
      select nspname || '.' || proname, 'function', routine.oid::regprocedure::text,
        proowner, coalesce(proacl, acldefault('f', proowner))
      from pg_proc as routine join pg_namespace as space on space.oid = pronamespace
    )
    select name, kind, identity, (
      select coalesce(jsonb_agg(jsonb_build_object(
        'privilege', privilege_type,
        'grantee', case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
        'isGrantable', is_grantable
      )), '[]')
      from aclexplode(rights) where grantee <> owner
    ) as rights
    from object
    where name = any (${[...wanted]})
    order by name`;
}

/** How many objects the texts create: a text may hold several functions of one name. */
function countObjects(created: readonly Created[]): number {
  return created.flatMap(({ text }) => text.match(/^create or replace /gim) ?? []).length;
}

function names(created: readonly Created[]): string[] {
  return created.map(({ name }) => name);
}

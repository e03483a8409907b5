/** The statements that bring a stored answer up to date with its source. Rows that are right are not written. */
import { list, type StoredAnswer, same } from "../declare-relation.ts";
import { BUILDS } from "../stored/answers.ts";

/** The statement for the parts that changes affect, or for all rows of an answer without parts. */
export function mergePartsStatement(answer: StoredAnswer): string {
  const { table, source, columns, parts } = answer;
  if (parts === null)
    return `with differing as materialized (${differing(answer, `select ${list(columns)} from ${source}`)}), ${write(answer, "differing")}`;
  const { query, scope, rows, isWithin = () => "true" } = parts;
  // Without OFFSET 0 Postgres would compute the whole source and join it.
  const fresh = `
    select ${list(columns, "fresh")} from part cross join lateral (${rows} offset 0) as fresh where ${isWithin("fresh")}`;
  const within = `
    select ${list(columns, "stored")} from part join ${table} as stored on ${same(scope, "stored", "part")} and ${isWithin("stored")}`;
  return `
    with part as materialized (${query}), differing as materialized (${differing(answer, fresh, `(${within})`)}),
    ${write(answer, "differing")}`;
}

/**
 * Finds all rows that are not what their source gives, in a temporary table: Postgres uses several processes to create a
 * table from a query, but not to write to an existing table.
 */
export function findDifferingStatement(answer: StoredAnswer): string {
  return `create temporary table differing on commit drop as ${differing(answer, selectAll(answer))}`;
}

/** The statements that write them. */
export function writeDifferingStatements(answer: StoredAnswer): string[] {
  return [
    "analyze differing",
    // The planner may still think this table is empty and would pick a nested loop.
    "set local enable_nestloop = off",
    writeStatement(answer, "differing"),
    "set local enable_nestloop = on",
  ];
}

/** The statement for all rows of an empty table: there is nothing to compare with. */
export function addAllStatement(answer: StoredAnswer): string {
  const { table, columns, order } = answer;
  return `insert into ${table} (${list(columns)}) ${selectAll(answer)} order by ${list(order)}`;
}

/** Writes the rows of `from`, each of which differs from the stored one: it is new, gone, or has other values. */
export function writeStatement(answer: StoredAnswer, from: string): string {
  return `with ${write(answer, from)}`;
}

function selectAll(answer: StoredAnswer): string {
  // Most error lines are equal. This source looks at each once, which is cheaper from a few builds on.
  const source = answer === BUILDS ? "rollup.all_builds_source" : answer.source;
  return `select ${list(answer.columns)} from ${source}`;
}

/** A row that only one side has differs too: each answer has a value that is never null. */
function differing(answer: StoredAnswer, fresh: string, stored = answer.table): string {
  const { key } = answer;
  const values = valuesOf(answer);
  return `
    select ${key.map((column) => `coalesce(fresh.${column}, stored.${column}) as ${column}`).join(", ")}, ${list(values, "fresh")},
      stored.${key[0]} is null as is_new, fresh.${key[0]} is null as is_gone
    from (${fresh}) as fresh full join ${stored} as stored on ${same(key, "stored", "fresh")}
    where (${list(values, "stored")}) is distinct from (${list(values, "fresh")})`;
}

/** A new row may stand elsewhere, out of the part that was compared, where a stored one is wrong: it is put right then. */
function write(answer: StoredAnswer, from: string): string {
  const { table, columns, key, order } = answer;
  const isSame = same(key, "stored", from);
  return `
    gone as (
      delete from ${table} as stored using ${from} where is_gone and ${isSame}
    ), moved as (
      update ${table} as stored set ${assignments(answer, from)} from ${from} where not is_new and not is_gone and ${isSame}
    )
    insert into ${table} as stored (${list(columns)}) select ${list(columns)} from ${from} where is_new order by ${list(order)}
    on conflict (${list(key)}) do update set ${assignments(answer, "excluded")}`;
}

const STAMPED: Readonly<Record<string, (answer: StoredAnswer, from: string) => string>> = {
  updated_at: () => "now()",
  renamed_at: (answer, from) => {
    const names = valuesOf(answer).filter((column) => /_(slug|name)$/.test(column));
    return `case when (${list(names, "stored")}) is distinct from (${list(names, from)}) then now() else stored.renamed_at end`;
  },
};

function assignments(answer: StoredAnswer, from: string): string {
  const set = valuesOf(answer).map((column) => `${column} = ${from}.${column}`);
  return [...set, ...answer.stamps.map((stamp) => `${stamp} = ${STAMPED[stamp]?.(answer, from)}`)].join(", ");
}

function valuesOf({ columns, key }: StoredAnswer): string[] {
  return columns.filter((column) => !key.includes(column));
}

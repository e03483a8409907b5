/** The statements that bring a stored answer up to date with its source. Rows that are right are not written. */
import { BUILDS, list, type StoredAnswer, same } from "./stored-answers.ts";

/** The statement for the parts that changes affect, or for all rows of an answer without parts. */
export function mergePartsStatement(answer: StoredAnswer): string {
  const { source, columns, parts } = answer;
  if (parts === null) return merge(answer, `fresh as materialized (select ${list(columns)} from ${source})`);
  const { query, scope, rows, isWithin = () => "true" } = parts;
  // Without OFFSET 0 Postgres would compute the whole source and join it.
  return merge(
    answer,
    `part as materialized (${query}), fresh as materialized (
      select ${list(columns, "fresh")} from part cross join lateral (${rows} offset 0) as fresh where ${isWithin("fresh")}
    )`,
    `using part where ${same(scope, "stored", "part")} and ${isWithin("stored")} and`,
  );
}

/**
 * The statements for all rows. A temporary table gets the rows of the source first: Postgres uses several processes
 * to create a table from a query, but not to write to an existing table.
 */
export function mergeAllStatements(answer: StoredAnswer): string[] {
  return [
    `create temporary table fresh on commit drop as ${selectAll(answer)}`,
    "analyze fresh",
    // The planner still thinks this table is empty and would pick a nested loop.
    "set local enable_nestloop = off",
    merge(answer),
    "set local enable_nestloop = on",
    "drop table fresh",
    `analyze ${answer.table}`,
  ];
}

/** The same for an empty table: there is nothing to compare with. */
export function addAllStatements(answer: StoredAnswer): string[] {
  const { table, columns } = answer;
  return [`insert into ${table} (${list(columns)}) ${selectAll(answer)}`, `analyze ${table}`];
}

function selectAll(answer: StoredAnswer): string {
  // Most error lines are equal. This source looks at each once, which is cheaper from a few builds on.
  const source = answer === BUILDS ? "rollup.all_builds_source" : answer.source;
  return `select ${list(answer.columns)} from ${source} order by ${list(answer.order)}`;
}

function merge(answer: StoredAnswer, fresh = "", within = "where"): string {
  const { table, columns, key } = answer;
  const isSame = same(key, "stored", "fresh");
  return `
    with ${fresh && `${fresh}, `}gone as (
      delete from ${table} as stored ${within} not exists (select from fresh where ${isSame})
    ), moved as (
      update ${table} as stored set ${assignments(answer)} from fresh where ${isSame} and ${isOther(answer)}
    )
    insert into ${table} (${list(columns)})
    select ${list(columns)} from fresh where not exists (select from ${table} as stored where ${isSame})`;
}

const STAMPED: Readonly<Record<string, (answer: StoredAnswer, from: string) => string>> = {
  updated_at: () => "now()",
  renamed_at: (answer, from) => {
    const names = valuesOf(answer).filter((column) => /_(slug|name)$/.test(column));
    return `case when (${list(names, "stored")}) is distinct from (${list(names, from)}) then now() else stored.renamed_at end`;
  },
};

export function assignments(answer: StoredAnswer, from = "fresh"): string {
  const set = valuesOf(answer).map((column) => `${column} = ${from}.${column}`);
  return [...set, ...answer.stamps.map((stamp) => `${stamp} = ${STAMPED[stamp]?.(answer, from)}`)].join(", ");
}

function isOther(answer: StoredAnswer): string {
  const values = valuesOf(answer);
  return `(${list(values, "stored")}) is distinct from (${list(values, "fresh")})`;
}

function valuesOf({ columns, key }: StoredAnswer): string[] {
  return columns.filter((column) => !key.includes(column));
}

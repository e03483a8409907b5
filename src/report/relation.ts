import { type SQL, sql } from "drizzle-orm";
import { type ColumnOf, columnsOf, type Relation } from "./dictionary.ts";

/** A relation in a statement, and its columns. */
export type RelationSql<R extends Relation> = SQL & { readonly [Column in ColumnOf<R>]: SQL };

/**
 * A relation of schema `report` for drizzle's `sql`. With `build` for `relation("fact_builds")`, `${build}` is
 * `report.fact_builds` and `${build.type}` is `type`; with an alias the column is `ALIAS.type`. A column that the
 * dictionary does not have does not compile.
 */
export function relation<R extends Relation>(name: R, alias?: string): RelationSql<R> {
  const [as, of] = alias === undefined ? ["", ""] : [` as ${alias}`, `${alias}.`];
  const columns = columnsOf(name).map((column) => [column, sql.raw(of + column)]);
  return Object.assign(sql.raw(`report.${name}${as}`), Object.fromEntries(columns));
}

/** Several columns of a relation, in this order. */
export function pick<C extends string>(from: Readonly<Record<C, SQL>>, ...columns: C[]): SQL {
  return sql.join(
    columns.map((column) => from[column]),
    sql`, `,
  );
}

/** The WHERE of a statement, on a line of its own. Nothing where there are no conditions. */
export function where(...conditions: (SQL | false)[]): SQL | undefined {
  const given = conditions.filter((condition) => condition !== false);
  return given.length === 0 ? undefined : sql`\nwhere ${sql.join(given, sql`\n  and `)}`;
}

/** A number of ours in the text: a statement without values takes one round trip less. */
export const inline = (number: number): SQL => sql.raw(String(number));

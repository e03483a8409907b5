import { sql as compose, type Name, type SQL } from "drizzle-orm";
import { CasingCache } from "drizzle-orm/casing";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type postgres from "postgres";
import type { AnySql, TransactionSql } from "./sql.ts";

/**
 * Drizzle's `sql`, under a name of its own because a connection is called `sql`. Fixed statements are tags of the
 * connection. This is for statements that depend on a table, on conditions or on other pieces: with the tables of
 * `src/store/schema`, so that a renamed column does not compile. An array that is one value is `compose.param(array)`.
 */
export { compose };

/** The bare name of a column, as `set` and the list of `insert into` take it. */
export const nameOf = (column: AnyPgColumn): Name => compose.identifier(column.name);

/** Names in quotes are hard to read, so a plain name that is no reserved word stands bare. */
const BARE_NAME = /^[a-z_][a-z0-9_]*$/;
/** The reserved words of Postgres that our tables have as names of columns. */
const RESERVED = new Set(["user", "order", "group", "table", "column", "end", "desc", "asc", "all"]);

const WRITING = {
  casing: new CasingCache(),
  escapeName: (name: string) =>
    BARE_NAME.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`,
  escapeParam: (index: number) => `$${index + 1}`,
  escapeString: (text: string) => `'${text.replaceAll("'", "''")}'`,
};

/** A statement as the server takes it: text with `$1`, `$2` and so on, and the values for them. */
export type WrittenStatement = Readonly<{ text: string; params: readonly unknown[] }>;

export function writeStatement(statement: SQL): WrittenStatement {
  const { sql: text, params } = statement.toQuery(WRITING);
  return { text, params };
}

export interface RunOptions {
  /**
   * Keeps the plan in the session, for a statement that runs often with one text. @default planned each time, for its values
   */
  prepare?: boolean;
  /** Postgres refuses more than one statement in the text. @default so only where there are params */
  isSingle?: boolean;
}

const KEEPING = new WeakSet<AnySql>();

/** Lets the session keep the plan of each text that runs in this transaction, for one that asks the same for many records. */
export function keepPlans(tx: TransactionSql): void {
  KEEPING.add(tx);
}

/** Runs a statement that was composed with drizzle's `sql`, for example of a table and some conditions. */
export function runStatement<Row extends postgres.MaybeRow = postgres.Row>(
  sql: AnySql,
  statement: SQL,
  options?: RunOptions,
): postgres.PendingQuery<Row[]> {
  const { text, params } = writeStatement(statement);
  return runText<Row>(sql, text, params, options);
}

/** The tag of a connection for composed statements: `composed(sql)<Row>` in the place of `sql<Row[]>`. */
export const composed =
  (sql: AnySql) =>
  <Row extends postgres.MaybeRow = postgres.Row>(strings: TemplateStringsArray, ...values: unknown[]) =>
    runStatement<Row>(sql, compose(strings, ...values));

/**
 * Runs a statement that is already text: one that was read from a file or from Postgres's own catalogs, or
 * written by `writeStatement`. The only place that gives the driver text, so whoever calls it says where the
 * text is from. Several statements in one text take no params.
 */
export function runText<Row extends postgres.MaybeRow = postgres.Row>(
  sql: AnySql,
  text: string,
  params: readonly unknown[] = [],
  { isSingle, ...options }: RunOptions = {},
): postgres.PendingQuery<Row[]> {
  // The driver knows `simple`, its types do not: without it several statements run where there are no params.
  const kept = KEEPING.has(sql) ? { prepare: true, ...options } : options;
  const protocol = isSingle ? { ...kept, simple: false } : kept;
  return sql.unsafe<Row[]>(text, params as postgres.ParameterOrJSON<never>[], protocol);
}

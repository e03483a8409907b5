import type { SQL } from "drizzle-orm";
import { CasingCache } from "drizzle-orm/casing";
import type postgres from "postgres";
import type { AnySql } from "./connect.ts";

/** A statement as the server takes it: text with `$1`, `$2` and so on, and the values for them. */
export interface WrittenStatement {
  readonly text: string;
  readonly params: readonly unknown[];
}

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

/** Writes a composed statement. Each value of it becomes a parameter. */
export function writeStatement(statement: SQL): WrittenStatement {
  const { sql: text, params } = statement.toQuery(WRITING);
  return { text, params };
}

/** Runs a statement that was composed with drizzle's `sql`, for example of a table and some conditions. */
export function runStatement<Row extends postgres.MaybeRow = postgres.Row>(
  sql: AnySql,
  statement: SQL,
): postgres.PendingQuery<Row[]> {
  const { text, params } = writeStatement(statement);
  return runText<Row>(sql, text, params);
}

/**
 * Runs a statement that is already text: one that was read from a file or from Postgres's own catalogs, or
 * written by `writeStatement`. The only place that gives the driver text, so whoever calls it says where the
 * text is from. Several statements in one text take no params.
 */
export function runText<Row extends postgres.MaybeRow = postgres.Row>(
  sql: AnySql,
  text: string,
  params: readonly unknown[] = [],
): postgres.PendingQuery<Row[]> {
  return sql.unsafe<Row[]>(text, params as postgres.ParameterOrJSON<never>[]);
}

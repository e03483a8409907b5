import type postgres from "postgres";

/** A pool of connections. Dates, times and intervals are read as the text of Postgres, never as a JavaScript Date. */
export type Sql = postgres.Sql;
/** One connection inside `sql.begin`. */
export type TransactionSql = postgres.TransactionSql;
/** A pool or a transaction, for statements that need one connection only. */
export type AnySql = postgres.ISql;

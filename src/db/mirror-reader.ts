import type { Sql, TransactionSql } from "./connect.ts";

/**
 * Reads the mirror for what is served, over connections that cannot write. Both throw StoreError, and do so
 * at once while the database is down.
 */
export interface MirrorReader {
  read<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  /** The same over one snapshot: what a run commits meanwhile is not seen. */
  snapshot<T>(fn: (tx: TransactionSql) => Promise<T>): Promise<T>;
}

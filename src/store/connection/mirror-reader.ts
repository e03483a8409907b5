import type { Sql, TransactionSql } from "./sql.ts";

/**
 * Reads the mirror for the HTTP server, over connections that cannot write. Both functions throw StoreError,
 * and do so at once while the database is down.
 */
export interface MirrorReader {
  read<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Reads one snapshot: `fn` does not see what a run commits in the meantime. A signal that is aborted cancels
   * the running statement at the server, and its reason is thrown.
   */
  snapshot<T>(fn: (tx: TransactionSql) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

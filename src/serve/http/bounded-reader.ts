import type { Clock } from "../../base/clock.ts";
import { StoreError } from "../../base/errors.ts";
import { connect, renewConnections } from "../../store/connection/connect.ts";
import { repeatAfterConflict } from "../../store/connection/recovery-conflict.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { isAway, toStoreError } from "../../store/connection/store-errors.ts";
import type { ServedMirror } from "./served-mirror.ts";

export type BoundedReader = ReturnType<typeof createBoundedReader>;

/**
 * Reads the mirror over one connection of its own, so that it waits neither behind pages nor for ever. The first read
 * opens the connection. `withinMs` is how long a read may take, with its wait for a connection.
 */
export function createBoundedReader({
  mirror,
  withinMs,
  clock,
}: {
  mirror: Pick<ServedMirror, "url" | "reopen">;
  withinMs: number;
  clock: Clock;
}) {
  let pool: { url: string; sql: Sql } | null = null;

  function poolAt(url: string): Sql {
    if (pool?.url === url) return pool.sql;
    close().catch(() => {});
    const sql = connect(url, {
      applicationName: "docmirror health",
      max: 1,
      connectTimeoutSeconds: withinMs / 1000,
      session: { default_transaction_read_only: "on", statement_timeout: `${withinMs}ms` },
    });
    pool = { url, sql };
    return sql;
  }

  /** May be called twice. */
  async function close(): Promise<void> {
    const left = pool;
    pool = null;
    await left?.sql.end({ timeout: 1 });
  }

  return {
    close,
    /** Throws StoreError, in time, where the database is down, silent or slow. */
    async read<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
      const url = mirror.url();
      if (url === null) {
        mirror.reopen();
        throw new StoreError("the database does not answer yet");
      }
      const sql = poolAt(url);
      const answered = new AbortController();
      const late = clock.sleep(withinMs, answered.signal).then(() => {
        // A silent connection would hold up the next read too.
        renewConnections(sql);
        throw new StoreError(`the database did not answer within ${withinMs} ms`);
      });
      try {
        return await Promise.race([repeatAfterConflict(() => fn(sql)), late]);
      } catch (error) {
        if (isAway(error)) mirror.reopen();
        throw toStoreError(error, "read the mirror");
      } finally {
        answered.abort();
      }
    },
  };
}

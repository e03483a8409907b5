import { StoreError } from "../../base/errors.ts";
import { connect } from "./connect.ts";
import { type AnySql, runText, type Sql } from "./sql.ts";
import { isPassing, withStoreErrors } from "./store-errors.ts";

const HINT =
  "docmirror needs session pooling (PgBouncer: pool_mode=session) or a direct connection; change DATABASE_URL";

/**
 * Throws SharedSessionError behind a pooler that gives a connection another session with each transaction. There the lock of a
 * session would stay in a session of the pooler when its holder dies, and settings would reach other programs.
 *
 * A pooler can be detected: the number that it announced when the connection began is not the number of the session at the
 * server. Then the number is read twice, while a second connection holds a transaction open. If the first connection had given
 * its session back, the second one now has it. `sql` has one connection. The second one is only opened behind a pooler. In
 * statement mode a pooler hangs up when a transaction begins.
 */
export function assertSessionPooling(sql: Sql, url: string): Promise<void> {
  return withStoreErrors("check the session", async () => {
    const first = await readSession(sql);
    if (first.announced === first.actual) return;
    const second = connect(url, { applicationName: "docmirror pooling", max: 1 });
    try {
      await second.begin(async (tx) => {
        const other = await readSession(tx);
        const again = await readSession(sql);
        if (other.actual === first.actual || again.actual !== first.actual)
          throw new SharedSessionError("transaction");
      });
    } catch (error) {
      if (isPassing(error) && (await refusesTransactions(second))) throw new SharedSessionError("statement");
      throw error;
    } finally {
      await second.end({ timeout: 1 });
    }
  });
}

/** Whether a statement runs, and each transaction loses its connection. */
async function refusesTransactions(sql: Sql): Promise<boolean> {
  try {
    await readSession(sql);
  } catch {
    return false;
  }
  return sql.begin(async () => false).catch(isPassing);
}

/** The sessions are shared, so a lock in one does not hold. A retry does not help. */
export class SharedSessionError extends StoreError {
  override name = "SharedSessionError";

  constructor(mode: "transaction" | "statement") {
    const why =
      mode === "transaction" ? "gives one session to several connections" : "allows no transactions";
    super(`could not use the database: a pooler in ${mode} mode ${why}`, { hint: HINT });
  }
}

/** The number of the session at the server, and the number that was announced when the connection began. */
async function readSession(sql: AnySql): Promise<{ actual: number; announced: number }> {
  // Not prepared: behind a pooler the next session would not know the prepared statement.
  const rows = await runText<{ pid: number }>(sql, "select pg_backend_pid() as pid");
  return { actual: rows[0]?.pid ?? 0, announced: rows.state.pid };
}

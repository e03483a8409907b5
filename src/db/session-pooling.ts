import { StoreError } from "../errors.ts";
import { connect, type Sql } from "./connect.ts";
import { withStoreErrors } from "./store-errors.ts";

const HINT =
  "docmirror needs session pooling (PgBouncer: pool_mode=session) or a direct connection; name one in DATABASE_URL";

/**
 * Throws SharedSessionError where a pooler stands between that gives a connection another session of the server with each transaction. A lock of a
 * session would then stay behind in a session of the pooler when its holder dies, and settings would reach other programs.
 *
 * A pooler shows itself: the session's number that it told when the connection began is not the server's. Then the number is looked at
 * twice, while a second connection holds a transaction open and with it the session that the first one had, if that was given back. `sql` has
 * one connection; the second one is made only where there is a pooler.
 */
export function assertSessionPooling(sql: Sql, url: string): Promise<void> {
  return withStoreErrors("look at the session", () => compareSessions(sql, url));
}

async function compareSessions(sql: Sql, url: string): Promise<void> {
  const first = await readSession(sql);
  if (first.told === first.actual) return;
  const second = connect(url, { applicationName: "docmirror pooling", max: 1 });
  try {
    await second.begin(async (tx) => {
      const other = await readSession(tx);
      const again = await readSession(sql);
      if (other.actual === first.actual || again.actual !== first.actual) throw new SharedSessionError();
    });
  } finally {
    await second.end({ timeout: 1 });
  }
}

/** A session of the server is shared, so no lock of ours holds in it. Waiting does not help. */
export class SharedSessionError extends StoreError {
  override name = "SharedSessionError";

  constructor() {
    super(
      "could not use the database: a pooler in transaction mode stands before it, and gives one session to several connections",
      { hint: HINT },
    );
  }
}

/** The number of the session as the server knows it, and as it was told when the connection began. */
async function readSession(sql: Pick<Sql, "unsafe">): Promise<{ actual: number; told: number }> {
  const rows = await sql.unsafe<{ pid: number }[]>("select pg_backend_pid() as pid");
  return { actual: rows[0]?.pid ?? 0, told: rows.state.pid };
}

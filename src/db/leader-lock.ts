import { hostname } from "node:os";
import { LockedError } from "../errors.ts";
import { connect, type Sql } from "./connect.ts";
import { withStoreErrors } from "./store-errors.ts";

/** Any number that no other program uses for an advisory lock. One above the number of the run lock. */
const LOCK_KEY = "7237112447779369584";
const NAME = "docmirror lead ";
/** Postgres cuts longer application names. */
const MAX_NAME_LENGTH = 63;

/** Makes sure that only one long-running process runs the schedule of a mirror. Runs have their own lock. */
export interface LeaderLock {
  /**
   * Makes sure that this process leads. Takes the lock again when its connection was lost. Throws
   * `LockedError` with the name of the process when another process leads, and `StoreError` while Postgres
   * does not answer.
   */
  hold(url: string): Promise<void>;
  /** Lets another process lead. May be called twice. */
  release(): Promise<void>;
}

export function createLeaderLock(): LeaderLock {
  let sql: Sql | null = null;
  let heldUrl = "";

  async function release(): Promise<void> {
    const left = sql;
    sql = null;
    await left?.end({ timeout: 5 });
  }

  return {
    release,
    async hold(url) {
      if (heldUrl !== url) await release();
      heldUrl = url;
      sql ??= connect(url, {
        applicationName: `${NAME}${process.pid} on ${hostname()}`.slice(0, MAX_NAME_LENGTH),
        max: 1,
        session: { idle_session_timeout: "0" },
      });
      const held = sql;
      await withStoreErrors("take the lead", async () => {
        // Also true in a session that already has the lock.
        const [row] = await held<{ isLocked: boolean }[]>`
          select pg_try_advisory_lock(${LOCK_KEY}::bigint) as "isLocked"`;
        if (row?.isLocked) return;
        const leader = await findLeader(held);
        throw new LockedError(`another worker leads on this database${leader ? `: process ${leader}` : ""}`, {
          hint: "a database needs one worker or one watch; stop the other one first",
        });
      });
    },
  };
}

/**
 * The process that has the lock, such as `4711 on host, since …`. Null when it has released it in the
 * meantime.
 */
async function findLeader(sql: Sql): Promise<string | null> {
  const [leader] = await sql<{ name: string; since: string }[]>`
    select application_name as name, to_char(backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') as since
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and pg_locks.database = pg_stat_activity.datid
      and datname = current_database() and objsubid = 1
      and (classid::bigint << 32) | objid::bigint = ${LOCK_KEY}::bigint`;
  return leader ? `${leader.name.replace(NAME, "")}, since ${leader.since}` : null;
}

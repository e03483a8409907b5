import { hostname } from "node:os";
import { LockedError } from "../errors.ts";
import { connect, type Sql } from "./connect.ts";
import { withStoreErrors } from "./store-errors.ts";

/** Any number that no other program uses for its advisory locks; next to that of the run lock. */
const LOCK_KEY = "7237112447779369584";
const NAME = "docmirror lead ";
/** Postgres cuts longer names of applications. */
const MAX_NAME_LENGTH = 63;

/** Keeps one long-running process in charge of a mirror's schedule. Runs have a lock of their own. */
export interface LeaderLock {
  /**
   * Makes sure that this process leads, and takes the lock again when its connection was lost. Throws `LockedError`, naming the process,
   * when another one leads, and `StoreError` while Postgres cannot be asked.
   */
  hold(url: string): Promise<void>;
  /** Lets another one lead. May be called twice. */
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
        // In a session that has the lock already this is true as well.
        const [row] = await held<{ isLocked: boolean }[]>`
          select pg_try_advisory_lock(${LOCK_KEY}::bigint) as "isLocked"`;
        if (row?.isLocked) return;
        const leader = await findLeader(held);
        throw new LockedError(`another worker leads on this database${leader ? `: process ${leader}` : ""}`, {
          hint: "one worker, or one watch, is enough for a database; stop the other one first",
        });
      });
    },
  };
}

/** The process that has the lock, as in `4711 on host, since …`; null when it let go meanwhile. */
async function findLeader(sql: Sql): Promise<string | null> {
  const [leader] = await sql<{ name: string; since: string }[]>`
    select application_name as name, to_char(backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') as since
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and pg_locks.database = pg_stat_activity.datid
      and datname = current_database() and objsubid = 1
      and (classid::bigint << 32) | objid::bigint = ${LOCK_KEY}::bigint`;
  return leader ? `${leader.name.replace(NAME, "")}, since ${leader.since}` : null;
}

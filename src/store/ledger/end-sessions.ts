import type { Sql } from "../connection/sql.ts";
import { sqlstateOf } from "../connection/store-errors.ts";
import { type LeadHolder, tryLead } from "./lead-holder.ts";

const NO_RIGHT = "42501";
/** How many times, a tenth of a second apart, to try the lock of a session that is being ended. */
const TRIES = 50;

/**
 * Ends every session of a process on this database: a frozen one keeps its locks, and the locks of its rows.
 * Does not wait until they are gone. False where this role may not end them.
 */
export async function endSessions(sql: Sql, { instance, pid = 0 }: { instance: string; pid?: number }) {
  try {
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and (pid = ${pid} or position(${` #${instance}`} in application_name) > 0)`;
    return true;
  } catch (error) {
    if (sqlstateOf(error) === NO_RIGHT) return false;
    throw error;
  }
}

/** Ends the holder's process and takes the lock. Null where this role may not end those sessions. */
export async function endHolder(sql: Sql, { pid, instance }: LeadHolder): Promise<boolean | null> {
  if (instance === null) return false;
  if (!(await endSessions(sql, { instance, pid }))) return null;
  for (let tries = 0; tries < TRIES; tries++) {
    if (await tryLead(sql)) return true;
    await sql`select pg_sleep(0.1)`;
  }
  return false;
}

import { systemClock } from "../../base/clock.ts";
import { LockedError, StoreError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Sql } from "../connection/sql.ts";
import { sqlstateOf, toStoreError } from "../connection/store-errors.ts";

/** The longest wait for one lock, in milliseconds. */
export const LOCK_WAIT_MS = 3000;
const PAUSE_MS = 1000;
const PATIENCE_MS = 300_000;

/** A lock was not had in time, or a deadlock. */
const NOT_HAD: readonly (string | undefined)[] = ["55P03", "40P01"];

export interface ShortLockOptions {
  /** The longest wait for one lock. The caller sets it as `lock_timeout`. @default 3000 */
  lockWaitMs: number;
  /** The pause between two tries. @default 1000 */
  pauseMs: number;
  /** How long to try from the first failure on. @default 300000 */
  patienceMs: number;
}

/**
 * Runs `attempt`, which is one transaction, until it gets all of its locks. A session that waits for the lock of a table keeps all
 * later sessions waiting too, so it waits shortly, and pauses. Throws its `LockedError`, or a StoreError that names the oldest
 * transactions, when the patience is over; other errors, and the signal's reason, at once.
 */
export async function withShortLocks<T>(
  sql: Sql,
  attempt: () => Promise<T>,
  options: Partial<ShortLockOptions> & { log: Logger | undefined; signal: AbortSignal | undefined },
): Promise<T> {
  const { pauseMs = PAUSE_MS, patienceMs = PATIENCE_MS, log, signal } = options;
  let until: number | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LockedError) && !NOT_HAD.includes(sqlstateOf(error))) throw error;
      if (until === undefined) log?.info("other sessions use the tables; trying again until they let go");
      until ??= performance.now() + patienceMs;
      if (performance.now() + pauseMs > until) throw await explained(sql, error);
      await systemClock.sleep(pauseMs, signal);
    }
  }
}

async function explained(sql: Sql, error: unknown): Promise<unknown> {
  if (error instanceof LockedError) return error;
  const sessions = await sql<{ session: string }[]>`
    select concat_ws(' ', pid, nullif(application_name, ''), 'since', to_char(xact_start at time zone 'UTC', 'HH24:MI:SS"Z"')) as session
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 3`.catch(() => []);
  const stored = toStoreError(error, "bring the schema up to date");
  if (!(stored instanceof StoreError) || sessions.length === 0) return stored;
  const names = sessions.map(({ session }) => session).join(", ");
  return new StoreError(stored.message, {
    sqlstate: stored.sqlstate,
    cause: stored.cause,
    hint: `wait for these sessions or end them, then try again: ${names}`,
  });
}

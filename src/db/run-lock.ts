import { LockedError } from "../errors.ts";
import { connect } from "./connect.ts";
import { withStoreErrors } from "./store-errors.ts";

/** Any number will do that no other program uses for its advisory locks: the letters of "docmirro". */
const LOCK_KEY = "7237112447779369583";

export interface RunLock {
  /** Lets the next run begin. May be called twice. */
  release(): Promise<void>;
}

/**
 * Takes the lock under which one run at a time writes, on a connection of its own, for as long as that connection lives; so the
 * lock of a killed process frees itself. Throws `LockedError`, saying who runs, when it is taken.
 */
export async function acquireRunLock(url: string): Promise<RunLock> {
  const sql = connect(url, { applicationName: "docmirror lock", max: 1 });
  try {
    const [row] = await withStoreErrors(
      "take the run lock",
      () => sql<{ locked: boolean }[]>`
      select pg_try_advisory_lock(${LOCK_KEY}::bigint) as locked`,
    );
    if (!row?.locked) {
      const [run] = await sql<{ id: number; pid: number; host: string; startedAt: string }[]>`
        select id, pid, host, started_at as "startedAt" from sync.runs where status = 'running' order by id desc limit 1`;
      const who = run
        ? `run ${run.id}, process ${run.pid} on ${run.host}, since ${run.startedAt}`
        : "another process";
      throw new LockedError(`another run holds the lock: ${who}`, {
        hint: "wait until it has ended; `docmirror status` shows it",
      });
    }
    return { release: () => sql.end({ timeout: 5 }) };
  } catch (error) {
    await sql.end({ timeout: 5 });
    throw error;
  }
}

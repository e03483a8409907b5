import type { Clock } from "../../base/clock.ts";
import { LockedError } from "../../base/errors.ts";
import { connect, renewConnections } from "../connection/connect.ts";
import { describeSessions, findLockHolders, type OtherSession } from "../connection/other-sessions.ts";
import { createPatience, type PatienceOptions } from "../connection/patience.ts";
import { assertSessionPooling, SharedSessionError } from "../connection/session-pooling.ts";
import { runText, type Sql, type TransactionSql } from "../connection/sql.ts";
import { isPassing, READ_ONLY, sqlstateOf, withStoreErrors } from "../connection/store-errors.ts";
import type { RunKind } from "../schema/runs.ts";
import { createWritersLock, hasWritersLock, RUN_KEY, warnOfIntruders } from "./writers-lock.ts";

/** The server answered, and then ended the session. */
const ENDED: readonly (string | undefined)[] = ["57P01", "57P02", "CONNECTION_CLOSED"];
/** How long the server may take to end a session of ours that was lost. */
const GHOST_ENDS_MS = 5000;
/** How many times, a tenth of a second apart, to check which run has the lock. */
const CHECKS = 10;
/** A round of the watch takes about a minute at most. A caller that waits for it checks this often. */
const OUTLAST_POLL_MS = 250;
const OUTLAST_MS = 180_000;
/** A process without an open run is about to begin one, or has lost its right to one and leaves. */
const OUTLAST_NOBODY_MS = 5000;

export type RunLock = Awaited<ReturnType<typeof acquireRunLock>>;

export interface RunLockOptions {
  /**
   * Waits for a round of the watch that has the lock, three minutes at most, and 20 s or so for a process that has no
   * open run. @default refuses, as for any other run
   */
  outlast?: { clock: Clock; signal: AbortSignal };
  /**
   * Takes the lock in a new session when the server ends the one in which it is being taken, as in a restart. A server
   * that never answered is reported at once. @default reports both at once
   */
  patience?: Pick<PatienceOptions, "clock" | "signal" | "log">;
}

/** A session as the server identifies it. A pid alone is not enough, because pids are reused. */
interface Session {
  pid: number;
  startedAt: string;
}

/**
 * The session that has the lock, and our connection that took it, as the driver knows it: the same object as
 * long as the connection lives. `connection.pid` is the number that the server announced at its start.
 */
type Holder = Session & { connection: { pid: number } };

/**
 * Takes the lock under which only one run at a time writes. The lock has its own connection and lives as long
 * as that connection, so the lock of a killed process frees itself. Throws `LockedError`, which names the
 * running process, when it is taken.
 */
export async function acquireRunLock(url: string, options: RunLockOptions = {}) {
  // Otherwise a server that ends idle sessions would end this one.
  const session = { idle_session_timeout: "0" };
  const sql = connect(url, { applicationName: "docmirror lock", max: 1, session });
  const lock = createWritersLock(RUN_KEY);
  let holder: Holder | null = null;
  let hasAnswered = false;

  /**
   * Makes sure that the lock is held. Takes it again on a new session when its own session was lost. Throws `LockedError` when
   * another run has it now, and `StoreError` while Postgres does not answer.
   */
  const hold = () =>
    withStoreErrors("take the run lock", async () => {
      if (await tryLock()) return;
      // The server may not know yet that our connection broke. A pooler does, and may have passed it on.
      if (holder !== null && holder.connection.pid === holder.pid)
        await sql`
          select pg_terminate_backend(pid, ${GHOST_ENDS_MS}::bigint) from pg_stat_activity
          where pid = ${holder.pid} and backend_start = ${holder.startedAt}::timestamptz`;
      // The process that had the lock a moment ago may not have opened its run yet, or may have closed it.
      for (let check = 0; check < CHECKS; check++) {
        if (await tryLock()) return;
        const run = await findOpenRun(sql);
        if (run) throw lockedBy(run);
        // Two that took it at once do not meet again.
        await sql`select pg_sleep(0.05 + 0.1 * random())`;
      }
      throw lockedBy(undefined, await findLockHolders(sql, RUN_KEY));
    });

  /** Also true in a session that already has the lock. */
  async function tryLock(): Promise<boolean> {
    const { pid, startedAt, isLocked, isReadOnly, connection } = await lock.tryTake(sql);
    if (isReadOnly) {
      // A lock protects nothing here, for example on the old primary after a failover.
      renewConnections(sql);
      throw Object.assign(new Error("the server takes no writes"), { code: READ_ONLY });
    }
    const isSame = holder?.pid === pid && holder.startedAt === startedAt;
    if (holder !== null && holder.connection === connection && !isSame) throw await giveUp(holder);
    if (isLocked) holder = { pid, startedAt, connection };
    return isLocked;
  }

  /** One connection met two sessions: the lock would stay in the pooler's. Ends it unless it is busy. */
  async function giveUp({ pid, startedAt }: Session): Promise<SharedSessionError> {
    const end = `
      select pg_terminate_backend(pid) from pg_stat_activity
      where pid = $1 and backend_start = $2::timestamptz and (state = 'idle' or pid = pg_backend_pid())`;
    // Not prepared either. The pooler may run this in the session that it ends.
    await runText(sql, end, [pid, startedAt]).catch(() => {});
    return new SharedSessionError("transaction");
  }

  async function take(): Promise<void> {
    const { patience } = options;
    await tryTake().catch(async (error: unknown) => {
      if (!patience || !isPassing(error) || !(hasAnswered || ENDED.includes(sqlstateOf(error)))) throw error;
      const outwait = createPatience({
        ...patience,
        regain: async () => {},
        renew: () => renewConnections(sql),
      });
      await outwait("take the run lock", tryTake);
    });
  }

  async function tryTake(): Promise<void> {
    await withStoreErrors("take the run lock", () => assertSessionPooling(sql, url));
    hasAnswered = true;
    for (let waitedMs = 0; ; waitedMs += OUTLAST_POLL_MS) {
      try {
        await hold();
        // Behind a pooler a second check shows whether the connection still has the session with the lock.
        if (holder !== null && holder.connection.pid !== holder.pid) await hold();
        return;
      } catch (error) {
        const { outlast } = options;
        if (!outlast || !(error instanceof LockedError)) throw error;
        if (
          waitedMs >= (error.heldBy === null ? OUTLAST_NOBODY_MS : error.heldBy === "watch" ? OUTLAST_MS : 0)
        )
          throw error;
        await outlast.clock.sleep(OUTLAST_POLL_MS, outlast.signal);
      }
    }
  }

  /** Cancels the statements of our sessions with this name that wait for another session. Never rejects. */
  const cancelWaits = async (name: string): Promise<void> => {
    await sql`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and usename = session_user and wait_event_type = 'Lock'
        and starts_with(application_name, ${name})`.catch(() => {});
  };
  /** Lets the next run begin. May be called twice. */
  const release = () => sql.end({ timeout: 5 });
  await take().catch(async (error: unknown) => {
    await release();
    throw error;
  });
  if (options.patience) await warnOfIntruders(sql, options.patience.log).catch(() => {});
  return { hold, cancelWaits, release };
}

/** Takes the lock for a transaction: whether no run is under way. Then none begins before the transaction ends. */
export async function tryRunLock(tx: TransactionSql): Promise<boolean> {
  return (await createWritersLock(RUN_KEY).tryTake(tx, "transaction")).isLocked;
}

/** The run of the lock's process. One that a dead process left open has a heartbeat older than the lock. */
async function findOpenRun(sql: Sql) {
  const [run] = await runText<{ id: number; kind: RunKind; pid: number; host: string; startedAt: string }>(
    sql,
    `select id, kind, pid, host, started_at as "startedAt" from sync.runs
    where status = 'running' and exists (
      select from pg_stat_activity as session
      where ${hasWritersLock(RUN_KEY, "session.pid")} and (backend_start <= heartbeat_at) is not false)
    order by id desc limit 1`,
  );
  return run;
}

function lockedBy(run: Awaited<ReturnType<typeof findOpenRun>>, sessions: readonly OtherSession[] = []) {
  const who = run
    ? `run ${run.id}, process ${run.pid} on ${run.host}, since ${run.startedAt}`
    : describeSessions(sessions) || "another process";
  return new LockedError(`another run holds the lock: ${who}`, {
    hint: "wait until that run has ended; `docmirror status` shows it",
    heldBy: run?.kind ?? null,
  });
}

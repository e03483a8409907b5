import { randomInt } from "node:crypto";
import { hostname } from "node:os";
import { LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { connect, nameInstance, renewConnections, renewOtherConnections } from "../connection/connect.ts";
import { type AnySql, type Sql, type TransactionSql, withTransaction } from "../connection/sql.ts";
import { isPassing, READ_ONLY, sqlstateOf, withStoreErrors } from "../connection/store-errors.ts";
import { createWritersLock, findWriters, LEAD_KEY, warnOfIntruders } from "./writers-lock.ts";

/** What the application name of each session begins with that wants the lead. Process and host follow. */
const LEAD_NAME = "docmirror lead ";

type LeadHolder = NonNullable<Awaited<ReturnType<typeof findLeadHolder>>>;

/**
 * The session that has the lock, or null when nobody has it. A leader is judged by its heartbeat. A process
 * that has the lock and is no leader yet is judged by its last statement: it may have been frozen in between.
 * A session of an unknown kind never counts as silent.
 */
async function findLeadHolder(sql: AnySql) {
  const [row] = await sql<
    { pid: number; name: string; since: string; leader: string | null; isSilent: boolean | null }[]
  >`
    select session.pid, coalesce(application_name, '') as name,
      to_char(backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') as since, leader.instance as leader,
      coalesce(heartbeat_at, state_change) < clock_timestamp() - ${HEARTBEAT_LOST_MS} * interval '1 millisecond' as "isSilent"
    from pg_stat_activity as session
    -- The number of a session that ended may be that of another one by now. A name is null to other roles.
    left join sync.leader on backend_pid = session.pid
      and (application_name is null or position('#' || instance in application_name) > 0)
    where session.pid = any (${await findWriters(sql, LEAD_KEY)}::int[]) and session.pid <> pg_backend_pid()`;
  if (row === undefined) return null;
  const { pid, name, since } = row;
  const instance = row.leader ?? / #([a-z0-9]+)/.exec(name)?.[1] ?? null;
  const process = `${name.replace(LEAD_NAME, "").replace(/ #.*$/, "") || "of another role"}, since ${since}`;
  return { pid, process, instance, isSilent: row.isSilent === true && instance !== null };
}

/** A server that says nothing for so long has lost the connection. */
const ANSWER_WITHIN_MS = 10_000;
/** A heartbeat comes every few seconds. A process without one for this long counts as dead or frozen. */
const HEARTBEAT_LOST_MS = 30_000;

type LeadSession = ReturnType<typeof createLeadSession>;

/** The only connection of a process that has the lead or wants it: the lock belongs to its session. */
function createLeadSession() {
  const lock = createWritersLock(LEAD_KEY);
  let opened: { url: string; sql: Sql } | null = null;
  /** When the server began that answered last. */
  let server: string | null = null;
  let wasSilent = false;

  /** Closes it, which frees the lock. May be called twice, and it may be opened again. */
  async function close(): Promise<void> {
    const left = opened;
    opened = null;
    await left?.sql.end({ timeout: 5 });
  }

  /**
   * A server that fell silent and was replaced may hold the other connections of this process for hours. One that was only
   * slow keeps them.
   */
  async function noteServer(sql: Sql): Promise<void> {
    const [row] = await sql<{ startedAt: string }[]>`
      select pg_postmaster_start_time()::text as "startedAt"`;
    if (wasSilent && server !== null && row?.startedAt !== server) renewOtherConnections(sql);
    server = row?.startedAt ?? null;
    wasSilent = false;
  }

  return {
    close,
    /** Takes the lock, if it is free. Also true in a session that already has it. */
    tryLead: async (sql: AnySql): Promise<boolean> => (await lock.tryTake(sql)).isLocked,
    url: () => opened?.url ?? null,
    /**
     * Runs `fn`; `doing` completes "could not …". Gives the connection up, with its lock, when the server says
     * nothing for 10 s, takes no writes, or has another URL now. Throws `StoreError`.
     */
    async ask<T>(url: string, doing: string, fn: (sql: Sql) => Promise<T>): Promise<T> {
      // An embedded server may have started again on another port.
      if (opened?.url !== url) await close();
      opened ??= {
        url,
        sql: connect(url, {
          applicationName: `${LEAD_NAME}${process.pid} on ${hostname()}`,
          max: 1,
          session: { idle_session_timeout: "0" },
        }),
      };
      const { sql } = opened;
      const late = setTimeout(() => {
        wasSilent = true;
        renewConnections(sql);
      }, ANSWER_WITHIN_MS);
      try {
        return await withStoreErrors(doing, async () => {
          await noteServer(sql);
          return fn(sql);
        });
      } catch (error) {
        // A lock on the old primary after a failover protects nothing.
        if (sqlstateOf(error) === READ_ONLY) renewConnections(sql);
        throw error;
      } finally {
        clearTimeout(late);
      }
    },
  };
}

export type Term = ReturnType<typeof createTerm>;

/** The time in which a process leads, as `takeOver` wrote it down: until it resigns or another leads. */
function createTerm(
  session: LeadSession,
  instance: string,
  { number, interrupted }: { number: number; interrupted: readonly number[] },
) {
  let isOver = false;
  let asking: Promise<boolean> | null = null;

  async function beat(sql: Sql): Promise<boolean> {
    const beaten = await sql`
      update sync.leader set heartbeat_at = clock_timestamp()
      where instance = ${instance} and term = ${number} and backend_pid = pg_backend_pid()`;
    return beaten.count > 0 || regain(sql);
  }

  /** On a new session. The server may not know yet that the old one broke. */
  async function regain(sql: Sql): Promise<boolean> {
    if (!(await session.tryLead(sql))) {
      const holder = await findLeadHolder(sql);
      if (holder?.instance !== instance || (await endHolder(session, sql, holder)) !== true) return false;
    }
    const again = await sql`
      update sync.leader set backend_pid = pg_backend_pid(), heartbeat_at = clock_timestamp()
      where instance = ${instance} and term = ${number}`;
    return again.count > 0;
  }

  async function keep(url: string): Promise<boolean> {
    if (isOver) return false;
    const ask = () => session.ask(url, "keep the lead", beat);
    // A process that was frozen finds its sessions gone. It asks on a new one at once, since its run goes on.
    const isKept = await ask().catch((error: unknown) => {
      if (!isPassing(error)) throw error;
      return ask();
    });
    if (isKept) return true;
    isOver = true;
    await session.close();
    return false;
  }

  return {
    number,
    /** The runs that the last leader had left open. They are interrupted now. */
    interrupted,
    /**
     * Shows that this process lives, and whether it still leads. Takes the lock again when its session was lost
     * and nobody has led since. False is for good. Throws `StoreError` while Postgres does not answer: then
     * nobody knows. Concurrent calls share one answer.
     */
    keep(url: string): Promise<boolean> {
      asking ??= keep(url).finally(() => {
        asking = null;
      });
      return asking;
    },
    /** Nobody else leads before the transaction ends. Throws `LockedError` when another process has led since. */
    async assertLeads(tx: TransactionSql): Promise<void> {
      // A heartbeat may pass, but no takeover.
      const own = await tx`
        select from sync.leader where instance = ${instance} and term = ${number} for key share`;
      if (own.count === 0) throw new LockedError("another worker leads by now");
    },
    /** Says that this process ended its lead by itself. Never throws: another one leads soon anyway. */
    async resign(): Promise<void> {
      const url = session.url();
      if (isOver || url === null) return;
      isOver = true;
      const resign = (sql: Sql) => sql`
        update sync.leader set resigned_at = clock_timestamp()
        where instance = ${instance} and term = ${number}`;
      await session.ask(url, "resign", resign).catch(() => {});
      await session.close();
    },
  };
}

/**
 * The lead of one process on a mirror. Only the process that leads runs the schedule.
 *
 *   standing by ──take: the lock is free, or its holder is silent──▶ leading
 *   leading ──keep: another process has the lock, or has led since──▶ standing by
 *           ──resign──▶ standing by
 *
 * The lock belongs to a session, so that of a killed process is free at once. A frozen process keeps its
 * session, but its heartbeat stops: then another process ends its sessions and takes the lock.
 */

export type LeaderLock = ReturnType<typeof createLeaderLock>;

export function createLeaderLock(log: Logger) {
  const instance = randomInt(36 ** 5, 36 ** 6).toString(36);
  const session = createLeadSession();
  let isRefused = false;

  async function endSilent(sql: Sql, holder: LeadHolder): Promise<boolean> {
    const isFree = await endHolder(session, sql, holder);
    if (isFree === null && !isRefused)
      log.error(
        { leader: holder.process },
        "the leader is silent, and this role may not end its sessions: grant it pg_signal_backend, or end that process",
      );
    isRefused = isFree === null;
    if (isFree === true) log.warn({ leader: holder.process }, "the leader was silent; ended its sessions");
    return isFree === true;
  }

  return {
    /** A URL whose sessions have the name of this process, so that the next leader can end them. */
    nameSessions: (url: string) => nameInstance(url, instance),
    /** Frees the lock. May be called twice. */
    release: session.close,
    /**
     * Begins a term, or says who leads. Ends the sessions of a leader that was silent for 30 s. `url` comes from
     * `nameSessions`. Throws `StoreError`.
     */
    take: (url: string): Promise<Term | LockedError> =>
      session.ask(url, "take the lead", async (sql) => {
        if (!(await session.tryLead(sql))) {
          const holder = await findLeadHolder(sql);
          const isFree =
            holder === null ? await session.tryLead(sql) : holder.isSilent && (await endSilent(sql, holder));
          if (!isFree) return ledBy(holder);
        }
        await warnOfIntruders(sql, log);
        return createTerm(session, instance, await takeOver(sql, instance, log));
      }),
  };
}

function ledBy(holder: LeadHolder | null): LockedError {
  const who = holder ? `: process ${holder.process}` : "";
  return new LockedError(`another worker leads on this database${who}`, {
    hint: "stop it first, or start a second worker instead, which stands by",
  });
}

/** A row that a session of the old leader still locks is waited for, but not for ever. */
const LOCK_TIMEOUT = "3s";

/**
 * Writes that this session's process leads from now on, and closes the runs of the process that led before, so
 * that it can write no more: its commits succeed only while its run is open. The caller has the lock. Returns the
 * number of the term and the runs that were closed. Safe to repeat.
 */
async function takeOver(sql: Sql, instance: string, log: Logger) {
  const [last] = await sql<{ instance: string; pid: number; host: string; hasResigned: boolean }[]>`
    select instance, pid, host, resigned_at is not null as "hasResigned" from sync.leader`;
  if (last && !last.hasResigned && last.instance !== instance && !(await endSessions(sql, last)))
    log.warn({ pid: last.pid, host: last.host }, "this role may not end the sessions of the last leader");
  return withTransaction(sql, async (tx) => {
    await tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
    // Waits for a run that is being opened under the old term (`assertLeads`).
    await tx`select from sync.leader for update`;
    const interrupted = await tx<{ id: number }[]>`
      update sync.runs set status = 'interrupted', finished_at = greatest(runs.heartbeat_at, runs.started_at),
        error = 'another worker took the lead'
      from sync.leader
      where status = 'running' and runs.pid = leader.pid and runs.host = leader.host returning runs.id`;
    const [row] = await tx<{ term: number }[]>`
      insert into sync.leader as last (term, instance, pid, host, backend_pid, since, heartbeat_at)
      values (1, ${instance}, ${process.pid}, ${hostname()}, pg_backend_pid(), clock_timestamp(), clock_timestamp())
      on conflict (id) do update set term = last.term + 1, instance = excluded.instance, pid = excluded.pid,
        host = excluded.host, backend_pid = excluded.backend_pid, since = excluded.since,
        heartbeat_at = excluded.heartbeat_at, resigned_at = null
      returning term`;
    if (row === undefined) throw new Error("the term got no number");
    return { number: row.term, interrupted: interrupted.map(({ id }) => id) };
  });
}

const NO_RIGHT = "42501";
/** How many times, a tenth of a second apart, to try the lock of a session that is being ended. */
const TRIES = 50;

/**
 * Ends every session of a process on this database: a frozen one keeps its locks, and the locks of its rows.
 * Does not wait until they are gone. False where this role may not end them.
 */
async function endSessions(sql: Sql, { instance, pid = 0 }: { instance: string; pid?: number }) {
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
async function endHolder(session: LeadSession, sql: Sql, { pid, instance }: LeadHolder) {
  if (instance === null) return false;
  if (!(await endSessions(sql, { instance, pid }))) return null;
  for (let tries = 0; tries < TRIES; tries++) {
    if (await session.tryLead(sql)) return true;
    await sql`select pg_sleep(0.1)`;
  }
  return false;
}

/** The process that runs the schedule of the mirror. */
export interface Leader {
  instance: string;
  pid: number;
  host: string;
  term: number;
  since: string;
  heartbeat_at: string;
}

/**
 * The process that leads now, or null: nobody ever led, the last one resigned, or its heartbeat stopped. The clock of
 * Postgres alone decides, so that clocks of machines may differ.
 */
export async function findLeader(sql: AnySql): Promise<Leader | null> {
  const [leader] = await sql<Leader[]>`
    select instance, pid, host, term, since, heartbeat_at from sync.leader
    where resigned_at is null and heartbeat_at > clock_timestamp() - ${HEARTBEAT_LOST_MS} * interval '1 millisecond'`;
  return leader ?? null;
}

/** Finds the sessions for which ours wait: the one reader of `pg_locks`, for table locks, row locks and advisory locks. */
import type postgres from "postgres";
import { counted } from "../../base/text.ts";
import type { AnySql } from "./sql.ts";

/** A session as others see it. The server hides all but pid, role and name from a role that is no member of the session's. */
export interface OtherSession {
  /** 0 for a transaction that was prepared for a commit in two steps, and has no session any more. */
  pid: number;
  /** Null for a process of the server itself, such as an autovacuum. */
  role: string | null;
  /** The name that its program gives itself, or the kind of process; may be empty. Anybody may choose any name. */
  name: string;
  /** When it began, in UTC. */
  startedAt: string | null;
  /** Since when its transaction is open, in UTC; null without one. */
  inTransactionSince: string | null;
  /** It runs a statement now. */
  isActive: boolean | null;
}

const FACTS = (sql: AnySql) => sql`
  holder.pid, usename::text as role, coalesce(nullif(application_name, ''), backend_type, '') as name,
  to_char(backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') as "startedAt",
  to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') as "inTransactionSince", state = 'active' as "isActive"`;

/** The sessions that have a lock of this mode on a table. `mode` is that of `lock table`, such as "share row exclusive". */
export function findTableHolders(
  sql: AnySql,
  { table, mode }: { table: string; mode: string },
): postgres.PendingQuery<OtherSession[]> {
  const name = `${mode.replaceAll(" ", "")}lock`;
  return sql<OtherSession[]>`
    select distinct ${FACTS(sql)}
    from pg_locks as lock join pg_stat_activity as holder on holder.pid = lock.pid
    where lock.relation = ${table}::regclass and granted and lower(lock.mode) = ${name}
      and lock.database = (select oid from pg_database where datname = current_database())`;
}

/**
 * The sessions that keep those of this role with the name of this session waiting for a lock. One that waits in the same line
 * is left out, because to end it would help nobody.
 */
export function findBlockers(sql: AnySql): postgres.PendingQuery<OtherSession[]> {
  return sql<OtherSession[]>`
    with blocker as (
      select distinct unnest(pg_blocking_pids(pid)) as pid from pg_stat_activity
      where datname = current_database() and usename = session_user
        and application_name = current_setting('application_name') and wait_event_type = 'Lock'
    )
    select ${FACTS(sql)}
    from blocker as holder left join pg_stat_activity using (pid)
    where (wait_event_type = 'Lock') is not true
    order by xact_start, pid`;
}

/** For people, such as "session 4711 (psql) of role alice, idle in a transaction since 2026-05-01 03:04:05Z". */
export function describeSession({ pid, role, name, startedAt, inTransactionSince, isActive }: OtherSession) {
  if (pid === 0) return "a prepared transaction (pg_prepared_xacts lists them)";
  const who = `session ${pid}${name && ` (${name})`}${role === null ? "" : ` of role ${role}`}`;
  if (inTransactionSince === null) return startedAt === null ? who : `${who}, there since ${startedAt}`;
  return `${who}, ${isActive ? "at work" : "idle"} in a transaction since ${inTransactionSince}`;
}

/** Three at most; more are counted. */
export function describeSessions(sessions: readonly OtherSession[]): string {
  const more = sessions.length - 3;
  const named = sessions.slice(0, 3).map(describeSession).join("; ");
  return more > 0 ? `${named}; and ${counted(more, "other")}` : named;
}

import type { AnySql } from "../connection/sql.ts";
import { HEARTBEAT_LOST_MS } from "./find-leader.ts";

/** Any number that no other program uses for an advisory lock. One above the number of the run lock. */
const LEAD_KEY = "7237112447779369584";
/** What the application name of each session begins with that wants the lead. Process and host follow. */
export const LEAD_NAME = "docmirror lead ";

/** The session that has the lock of the lead. */
export interface LeadHolder {
  pid: number;
  /** The process, such as `4711 on host, since …`. */
  process: string;
  /** Null for a version of docmirror whose sessions have no such name. */
  instance: string | null;
  /** Whether nothing was heard from its process for too long, by the clock of Postgres. */
  isSilent: boolean;
}

/**
 * The session that has the lock, or null when nobody has it. A leader is judged by its heartbeat. A process
 * that has the lock and is no leader yet is judged by its last statement: it may have been frozen in between.
 * A session of an unknown kind never counts as silent.
 */
export async function findLeadHolder(sql: AnySql): Promise<LeadHolder | null> {
  const [row] = await sql<
    { pid: number; name: string; since: string; leader: string | null; isSilent: boolean | null }[]
  >`
    select session.pid, coalesce(application_name, '') as name,
      to_char(backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') as since, leader.instance as leader,
      coalesce(heartbeat_at, state_change) < clock_timestamp() - ${HEARTBEAT_LOST_MS} * interval '1 millisecond' as "isSilent"
    from pg_locks as lock join pg_stat_activity as session on session.pid = lock.pid
    -- The number of a session that ended may be that of another one by now. A name is null to other roles.
    left join sync.leader on backend_pid = session.pid
      and (application_name is null or position('#' || instance in application_name) > 0)
    where locktype = 'advisory' and granted and lock.database = session.datid and datname = current_database()
      and objsubid = 1 and (classid::bigint << 32) | objid::bigint = ${LEAD_KEY}::bigint`;
  if (row === undefined) return null;
  const { pid, name, since } = row;
  const instance = row.leader ?? / #([a-z0-9]+)/.exec(name)?.[1] ?? null;
  const process = `${name.replace(LEAD_NAME, "").replace(/ #.*$/, "") || "of another role"}, since ${since}`;
  return { pid, process, instance, isSilent: row.isSilent === true && instance !== null };
}

/** Takes the lock, if it is free. Also true in a session that already has it. */
export async function tryLead(sql: AnySql): Promise<boolean> {
  const [row] = await sql<{ isLocked: boolean }[]>`
    select pg_try_advisory_lock(${LEAD_KEY}::bigint) as "isLocked"`;
  return row?.isLocked === true;
}

import { hostname } from "node:os";
import type { Logger } from "../../base/log.ts";
import type { Sql } from "../connection/sql.ts";
import { withTransaction } from "../connection/transaction.ts";
import { endSessions } from "./end-sessions.ts";

/** A row that a session of the old leader still locks is waited for, but not for ever. */
const LOCK_TIMEOUT = "3s";

/**
 * Writes that this session's process leads from now on, and closes the runs of the process that led before, so
 * that it can write no more: its commits succeed only while its run is open. The caller has the lock. Returns the
 * number of the term and the runs that were closed. Safe to repeat.
 */
export async function takeOver(sql: Sql, instance: string, log: Logger) {
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

/** Finds the sessions for which ours wait: the one reader of `pg_locks`, for table locks, row locks and advisory locks. */
import type postgres from "postgres";
import { counted } from "../../base/text.ts";
import { type AnySql, statement } from "./sql.ts";

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

const TABLE_HOLDERS = statement<OtherSession>("table_holders", import.meta.url);
const BLOCKERS = statement<OtherSession>("blockers", import.meta.url);

/** The sessions that have a lock of this mode on a table. `mode` is that of `lock table`, such as "share row exclusive". */
export function findTableHolders(
  sql: AnySql,
  { table, mode }: { table: string; mode: string },
): postgres.PendingQuery<OtherSession[]> {
  return TABLE_HOLDERS(sql, { table, lock: `${mode.replaceAll(" ", "")}lock` });
}

/**
 * The sessions that keep those of this role with the name of this session waiting for a lock. One that waits in the same line
 * is left out, because to end it would help nobody.
 */
export function findBlockers(sql: AnySql): postgres.PendingQuery<OtherSession[]> {
  return BLOCKERS(sql);
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

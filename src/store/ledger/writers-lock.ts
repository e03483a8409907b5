/**
 * An advisory lock that counts among roles which may write the mirror. Postgres lets each role take each such lock, and shows its
 * number to all; so a session of a role that only reads decides nothing. Past it the lock is taken under a number that nobody
 * can know before. Who has it under either number, and may write, has it.
 */
import { randomInt } from "node:crypto";
import type { Logger } from "../../base/log.ts";
import { describeSession, findLockHolders, type OtherSession } from "../connection/other-sessions.ts";
import { type AnySql, runText } from "../connection/sql.ts";

/** Any number that no other program uses for an advisory lock: the letters of "docmirro", and one above. */
export const RUN_KEY = "7237112447779369583";
export const LEAD_KEY = "7237112447779369584";

/** Whether that session may write the mirror, also as a role that it can switch to. A mirror without tables is anybody's. */
const MAY_WRITE = (role: string) => `coalesce((
  select bool_or(has_table_privilege(role.oid, to_regclass('sync.runs'), 'update'))
  from pg_roles as role where pg_has_role(${role}, role.oid, 'member')), true)`;

/** The other numbers of a lock have two parts; the first one is the low half of its own number. */
const HOLDERS = (key: string) => `
  select lock.pid, usesysid as role from pg_locks as lock join pg_stat_activity as session on session.pid = lock.pid
  where locktype = 'advisory' and granted and lock.database = session.datid and datname = current_database()
    and (objsubid = 1 and (classid::bigint << 32) | objid::bigint = ${key}
      or objsubid = 2 and classid::bigint = ${key} & 4294967295)`;

/** A condition for the pid of a session: it has the lock, and may write the mirror. */
export const hasWritersLock = (key: string, pid: string): string =>
  `${pid} in (select pid from (${HOLDERS(key)}) as holder where ${MAY_WRITE("role")})`;

interface Taken {
  isLocked: boolean;
  /** The session that asked. */
  pid: number;
  startedAt: string;
  isReadOnly: boolean;
  connection: { pid: number };
}

/** One holder's side of such a lock, which may be taken in several sessions after one another. */
export function createWritersLock(key: string) {
  const own = `${BigInt.asIntN(32, BigInt(key))}, ${randomInt(1, 2 ** 31 - 1)}`;
  const isOthers = `exists (select from (${HOLDERS(key)}) as holder where pid <> pg_backend_pid() and ${MAY_WRITE("role")})`;

  return {
    /**
     * Takes it, if nobody else has it that counts; also true in a session that has it. In a transaction it ends with that. Not
     * prepared: behind a pooler, the next session would not know the prepared statement.
     */
    async tryTake(sql: AnySql, until: "session" | "transaction" = "session"): Promise<Taken> {
      const take = until === "session" ? "pg_try_advisory_lock" : "pg_try_advisory_xact_lock";
      const rows = await runText<Omit<Taken, "connection"> & { wasLocked: boolean }>(
        sql,
        `with mine as materialized (select pid from (${HOLDERS(key)}) as holder where pid = pg_backend_pid())
        select (select count(*) from mine) > 0 as "wasLocked",
          case when ${isOthers} then false else ${take}(${key}) or ${take}(${own}) end as "isLocked", pid, backend_start as "startedAt",
          pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "isReadOnly"
        from pg_stat_activity where pid = pg_backend_pid()`,
      );
      const [row] = rows;
      if (row === undefined) throw new Error("a session did not find itself");
      const { wasLocked, ...taken } = row;
      // Two may have taken it at once, each under another number. Then neither has it, and both try again.
      if (taken.isLocked && !wasLocked) {
        const [rival] = await runText<{ isOthers: boolean }>(sql, `select ${isOthers} as "isOthers"`);
        if (rival?.isOthers) {
          taken.isLocked = false;
          if (until === "session")
            await runText(
              sql,
              `select case when objsubid = 1 then pg_advisory_unlock(${key}) else pg_advisory_unlock(${own}) end
              from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
                and (objsubid = 1 and objid::bigint = ${key} & 4294967295 or objsubid = 2 and classid::bigint = ${key} & 4294967295)`,
            );
        }
      }
      return { ...taken, connection: rows.state };
    },
  };
}

/** The sessions that have it and may write the mirror. */
export async function findWriters(sql: AnySql, key: string): Promise<number[]> {
  const rows = await runText<{ pid: number }>(
    sql,
    `select pid from (${HOLDERS(key)}) as holder where ${MAY_WRITE("role")}`,
  );
  return rows.map(({ pid }) => pid);
}

/** Who has a lock of the mirror, and whether it counts. */
export interface LockHolder {
  lock: "run" | "lead";
  session: OtherSession;
  may_write: boolean;
}

/** Any role may ask that may read `sync.runs`. */
export async function findHolders(sql: AnySql): Promise<LockHolder[]> {
  const holdersOf = async (lock: LockHolder["lock"], key: string) => {
    const writers = await findWriters(sql, key);
    const sessions = await findLockHolders(sql, key);
    return sessions.map((session) => ({ lock, session, may_write: writers.includes(session.pid) }));
  };
  return [...(await holdersOf("run", RUN_KEY)), ...(await holdersOf("lead", LEAD_KEY))];
}

/** For people. */
export const describeHolder = ({
  lock,
  session,
  may_write,
}: Omit<LockHolder, "session"> & { session: string }): string =>
  `${session} has the lock of the ${lock}${may_write ? "" : ", and docmirror goes on: that role may not write the mirror"}`;

/** Says who has a lock without the right to write. It stops nothing. */
export async function warnOfIntruders(sql: AnySql, log: Logger): Promise<void> {
  const hint = "end that session, or revoke connect from its role";
  for (const { lock, session, may_write } of await findHolders(sql)) {
    if (may_write) continue;
    const facts = { lock, session: describeSession(session), hint };
    log.warn(facts, "a role that may not write the mirror has a lock of it; docmirror goes on");
  }
}

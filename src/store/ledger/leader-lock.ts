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
import { randomInt } from "node:crypto";
import { LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { nameInstance } from "../connection/connect.ts";
import type { Sql } from "../connection/sql.ts";
import { endHolder } from "./end-sessions.ts";
import { findLeadHolder, type LeadHolder, tryLead } from "./lead-holder.ts";
import { createLeadSession } from "./lead-session.ts";
import { createTerm, type Term } from "./lead-term.ts";
import { takeOver } from "./take-over.ts";

export type LeaderLock = ReturnType<typeof createLeaderLock>;

export function createLeaderLock(log: Logger) {
  /** Random, of six letters and digits. */
  const instance = randomInt(36 ** 5, 36 ** 6).toString(36);
  const session = createLeadSession();
  let isRefused = false;

  async function endSilent(sql: Sql, holder: LeadHolder): Promise<boolean> {
    const isFree = await endHolder(sql, holder);
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
        if (!(await tryLead(sql))) {
          const holder = await findLeadHolder(sql);
          const isFree =
            holder === null ? await tryLead(sql) : holder.isSilent && (await endSilent(sql, holder));
          if (!isFree) return ledBy(holder);
        }
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

import { LockedError } from "../../base/errors.ts";
import type { Sql, TransactionSql } from "../connection/sql.ts";
import { isPassing } from "../connection/store-errors.ts";
import { endHolder } from "./end-sessions.ts";
import { findLeadHolder, tryLead } from "./lead-holder.ts";
import type { LeadSession } from "./lead-session.ts";

export type Term = ReturnType<typeof createTerm>;

/** The time in which a process leads, as `takeOver` wrote it down: until it resigns or another leads. */
export function createTerm(
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
    if (!(await tryLead(sql))) {
      const holder = await findLeadHolder(sql);
      if (holder?.instance !== instance || (await endHolder(sql, holder)) !== true) return false;
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
    /** The takeovers so far. */
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

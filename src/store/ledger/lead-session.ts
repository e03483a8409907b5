import { hostname } from "node:os";
import { connect, renewConnections, renewOtherConnections } from "../connection/connect.ts";
import type { Sql } from "../connection/sql.ts";
import { READ_ONLY, sqlstateOf, withStoreErrors } from "../connection/store-errors.ts";
import { LEAD_NAME } from "./lead-holder.ts";

/** A server that says nothing for so long has lost the connection. */
const ANSWER_WITHIN_MS = 10_000;

export type LeadSession = ReturnType<typeof createLeadSession>;

/** The only connection of a process that has the lead or wants it: the lock belongs to its session. */
export function createLeadSession() {
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
    /** The URL it was last opened with, or null. */
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

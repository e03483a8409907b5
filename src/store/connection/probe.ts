import { renewConnections, renewOtherConnections } from "./connect.ts";
import type { Sql } from "./sql.ts";
import { READ_ONLY, sqlstateOf, withStoreErrors } from "./store-errors.ts";

/** A server that says nothing for so long has lost the connection. */
const ANSWER_WITHIN_MS = 10_000;

/** Asks over a connection that does nothing else, so that the answer of a server that lives is never late. */
export interface Probe {
  /**
   * Runs `fn`; `doing` completes "could not …". Gives the connection up when the server says nothing for 10 s, or takes no writes: a new
   * one may lead to another server. Throws `StoreError`.
   */
  ask<T>(doing: string, fn: (sql: Sql) => Promise<T>): Promise<T>;
}

/** `sql` is a pool of one connection. The other pools of the process have the name of its URL (`nameInstance`). */
export function createProbe(sql: Sql): Probe {
  /** When the server began that answered last. */
  let server: string | null = null;
  let wasSilent = false;

  /**
   * A server that fell silent and was replaced may hold the other connections of this process for hours. One that was only slow keeps
   * them.
   */
  async function noteServer(): Promise<void> {
    const [row] = await sql<{ startedAt: string }[]>`
      select pg_postmaster_start_time()::text as "startedAt"`;
    if (wasSilent && server !== null && row?.startedAt !== server) renewOtherConnections(sql);
    server = row?.startedAt ?? null;
    wasSilent = false;
  }

  return {
    async ask(doing, fn) {
      const late = setTimeout(() => {
        wasSilent = true;
        renewConnections(sql);
      }, ANSWER_WITHIN_MS);
      try {
        return await withStoreErrors(doing, async () => {
          if (wasSilent || server === null) await noteServer();
          return fn(sql);
        });
      } catch (error) {
        if (sqlstateOf(error) === READ_ONLY) renewConnections(sql);
        throw error;
      } finally {
        clearTimeout(late);
      }
    },
  };
}

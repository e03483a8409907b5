import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createTrouble } from "../../base/trouble.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { isAway, isDown, isLoginRefused, toStoreError } from "../../store/connection/store-errors.ts";
import type { OpenDatabase } from "../../store/embedded/open-embedded.ts";
import { type Connections, createConnections } from "../../store/ledger/connections.ts";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

export interface KeptDatabaseDeps {
  /** Shown in pg_stat_activity. */
  program: string;
  /** Called again after each failure, since its settings may have changed. */
  open(signal: AbortSignal): Promise<OpenDatabase>;
  /** Brings the schema up to date, or throws. */
  prepare(database: OpenDatabase, sql: Sql, signal: AbortSignal): Promise<void>;
  /**
   * Another login comes with the next start of this process alone. Then a refused one is not waited for, since a
   * supervisor does that.
   */
  isLoginFixed: boolean;
  clock: Clock;
  log: Logger;
  /** @default those of `connections.ts` */
  createConnections?: typeof createConnections;
}

/** A database that is used as long as the process lives, and may be down for some of that time. */
export interface KeptDatabase {
  /**
   * Resolves to the connections, always the same ones, once it answers and has our schema. Waits as long as it is down, and tries again
   * after 1 s at first, a minute at most. Starts an embedded one again that has ended. Concurrent calls take
   * turns. Throws faults that waiting does not repair (rights, password, another schema), and the signal's
   * reason. Once it was ready, whatever the server refuses is waited for too: somebody rotates a password, frees a disk.
   */
  ready(signal: AbortSignal): Promise<Connections>;
  /** Ends the connections, and stops using the embedded Postgres. May be called twice. */
  close(): Promise<void>;
}

export function createKeptDatabase(deps: KeptDatabaseDeps): KeptDatabase {
  const { program, open, prepare, isLoginFixed, clock, log } = deps;
  let database: OpenDatabase | null = null;
  let url = "";
  let connections: Connections | null = null;
  let hasWorked = false;
  let turn: Promise<unknown> = Promise.resolve();
  const trouble = createTrouble(clock, { wellAfterMs: 0 });

  async function leave(): Promise<void> {
    const left = database;
    database = null;
    await left?.close();
  }

  async function tryOnce(signal: AbortSignal): Promise<Connections> {
    signal.throwIfAborted();
    database ??= await open(signal);
    // Work on the connections of another password, or another port, comes to its end.
    url = database.url;
    connections ??= (deps.createConnections ?? createConnections)(() => url, { program, log });
    const opened = database;
    await connections.probe.ask("use the database", (sql) => prepare(opened, sql, signal));
    return connections;
  }

  async function becomeReady(signal: AbortSignal): Promise<Connections> {
    for (let failures = 0; ; failures++) {
      try {
        const ready = await tryOnce(signal);
        hasWorked = true;
        const over = trouble.over();
        if (over) log.info(over, "the database answers again");
        return ready;
      } catch (error) {
        signal.throwIfAborted();
        const waits = hasWorked && !(isLoginFixed && isLoginRefused(error)) ? isAway : isDown;
        if (!waits(error)) throw error;
        // The embedded one can change its port only when it is opened again.
        await leave().catch(() => {});
        const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10));
        const why = messageOf(toStoreError(error, "use the database"));
        const { isNews, again } = trouble.failed(why);
        const facts = { error: why, ...again, wait_ms: waitMs };
        if (isDown(error)) log[isNews ? "warn" : "debug"](facts, "the database is down; waiting for it");
        else log[isNews ? "error" : "debug"](facts, "the database cannot be used now; waiting until it can");
        await clock.sleep(waitMs, signal);
      }
    }
  }

  return {
    ready(signal) {
      // Two concurrent calls could both open it, and one of the two would never be closed.
      const mine = turn.then(() => becomeReady(signal));
      turn = mine.catch(() => {});
      return mine;
    },
    async close() {
      await connections?.end();
      await leave();
    },
  };
}

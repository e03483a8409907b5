import { setTimeout as wait } from "node:timers/promises";
import { intercept } from "./intercept.ts";
import type { Sql } from "./sql.ts";

const CANCEL_EVERY_MS = 100;
const LONGEST_MS = 5000;

/** A pool for the time of one piece of work. */
export interface Loan {
  readonly sql: Sql;
  /**
   * Lets nothing more begin, and waits for what runs; what waits for another session is cancelled. What lasts longer than 5 s loses its
   * connection, and the rest of the pool with it. Never rejects.
   */
  takeBack(): Promise<void>;
}

/** A statement of the driver: `handle` is what sends it, once it is awaited. One that is a part of another is never sent. */
type Sendable = Promise<unknown> & { handle(): unknown };

/** Lends a pool that other work uses too. `cancelWaits` and `renew` are those of the pool, and never reject. */
export function lend(sql: Sql, pool: { cancelWaits(): Promise<void>; renew(): void }): Loan {
  const running = new Set<Promise<unknown>>();
  let isBack = false;

  function begin<T>(fn: () => T): T {
    if (isBack) throw new Error("the work is over, and its connections were taken back");
    const begun = fn();
    if (!(begun instanceof Promise)) return begun;
    const end = () => running.delete(begun);
    Promise.prototype.then.call(begun, end, end);
    if ("handle" in begun) {
      const statement = begun as unknown as Sendable;
      const handle = statement.handle.bind(statement);
      statement.handle = () => {
        if (!isBack) running.add(statement);
        return handle();
      };
    } else running.add(begun);
    return begun;
  }

  return {
    sql: intercept(sql, () => sql, begin, {
      begin: (...args: Parameters<Sql["begin"]>) => begin(() => sql.begin(...args)),
    }),
    async takeBack() {
      isBack = true;
      for (let waitedMs = 0; running.size > 0; waitedMs += CANCEL_EVERY_MS) {
        if (waitedMs === LONGEST_MS) pool.renew();
        await pool.cancelWaits();
        await wait(CANCEL_EVERY_MS);
      }
    },
  };
}

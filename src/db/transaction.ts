import { setImmediate as nextTurn } from "node:timers/promises";
import type { Sql, TransactionSql } from "./connect.ts";

/** The driver rejects a transaction whose connection is lost; should it ever fail to, the transaction ends after this. */
const LOSS_TOLD_MS = 10_000;

/** Whether the server hangs up behind this error; the transaction is rejected when it does. */
function endsSession(error: unknown): boolean {
  return error instanceof Error && "severity" in error && /^(FATAL|PANIC)$/.test(String(error.severity));
}

/**
 * Runs `fn` in a transaction, like `sql.begin`, and survives the loss of its connection. postgres.js rejects the transaction then, but
 * goes on with `fn` in the background: its next statement, or the driver's own rollback, is written to a socket that is
 * gone, which throws where nobody can catch it and ends the process. So whatever goes on after the loss comes to rest here.
 */
export async function withTransaction<T>(sql: Sql, fn: (tx: TransactionSql) => Promise<T>): Promise<T> {
  let isLost = false;
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (reason: unknown) => void = () => {};
  const untold = new Promise<never>((_, reject) => {
    giveUp = reject;
  });

  async function hold<R>(tx: TransactionSql, body: (tx: TransactionSql) => Promise<R>): Promise<R> {
    try {
      const result = await body(guard(tx));
      // One that did not heed the loss must not come to its commit.
      assertConnected();
      return result;
    } catch (error) {
      // A failure of its own, or the first sign of a lost connection? By the second turn its end has been told.
      await nextTurn();
      await nextTurn();
      if (isLost || endsSession(error)) {
        timer ??= setTimeout(() => giveUp(error), LOSS_TOLD_MS);
        await new Promise<never>(() => {});
      }
      throw error;
    }
  }

  /** A lost connection takes no further statement. */
  function assertConnected(): void {
    if (isLost) throw new Error("the connection of this transaction was lost");
  }

  function guard(tx: TransactionSql): TransactionSql {
    return new Proxy(tx, {
      apply(target, self, args) {
        assertConnected();
        return Reflect.apply(target, self, args);
      },
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name === "savepoint") {
          return (body: (savepoint: TransactionSql) => Promise<unknown>) => {
            assertConnected();
            return target.savepoint((savepoint) => hold(savepoint, body));
          };
        }
        if (name !== "unsafe") return value;
        return (...args: Parameters<TransactionSql["unsafe"]>) => {
          assertConnected();
          return target.unsafe(...args);
        };
      },
    });
  }

  const transaction = sql.begin((tx) => hold(tx, fn));
  transaction.catch(() => {
    isLost = true;
  });
  try {
    return (await Promise.race([transaction, untold])) as T;
  } finally {
    clearTimeout(timer);
    // Whoever comes to rest from now on needs no bound: the caller has its answer.
    timer = undefined;
    isLost = true;
  }
}

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Sql, TransactionSql } from "./connect.ts";

/**
 * The driver rejects a transaction whose connection is lost. If it ever fails to, the transaction ends after
 * this time.
 */
const LOSS_REPORTED_MS = 10_000;

/** Whether the server closes the connection after this error. The transaction is rejected when it does. */
function endsSession(error: unknown): boolean {
  return error instanceof Error && "severity" in error && /^(FATAL|PANIC)$/.test(String(error.severity));
}

/**
 * Runs `fn` in a transaction, like `sql.begin`, and survives the loss of its connection. postgres.js then
 * rejects the transaction but `fn` continues in the background. Its next statement, or the driver's rollback,
 * is written to a closed socket, which throws where nothing can catch it and ends the process. So a body that
 * continues after the loss waits here for ever.
 */
export async function withTransaction<T>(sql: Sql, fn: (tx: TransactionSql) => Promise<T>): Promise<T> {
  let isLost = false;
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (reason: unknown) => void = () => {};
  const unreported = new Promise<never>((_, reject) => {
    giveUp = reject;
  });

  async function hold<R>(tx: TransactionSql, body: (tx: TransactionSql) => Promise<R>): Promise<R> {
    try {
      const result = await body(guard(tx));
      // A body that ignored the loss must not reach its commit.
      assertConnected();
      return result;
    } catch (error) {
      // Is it a failure of the body, or the first sign of a lost connection? By the second turn the loss has
      // been reported.
      await nextTurn();
      await nextTurn();
      if (isLost || endsSession(error)) {
        timer ??= setTimeout(() => giveUp(error), LOSS_REPORTED_MS);
        await new Promise<never>(() => {});
      }
      throw error;
    }
  }

  /** A lost connection takes no more statements. */
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
    return (await Promise.race([transaction, unreported])) as T;
  } finally {
    clearTimeout(timer);
    // A body that stops from now on needs no timer: the caller has its answer.
    timer = undefined;
    isLost = true;
  }
}

import { setImmediate as nextTurn } from "node:timers/promises";
import { cancelRunning } from "./abortable.ts";
import type { Sql, TransactionSql } from "./sql.ts";
import { sqlstateOf } from "./store-errors.ts";

/** The driver rejects a transaction whose connection is lost. If it ever fails to, the transaction ends after this time. */
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
 *
 * When `signal` is aborted, the server cancels the running statement, the transaction is rolled back, and the
 * signal's reason is thrown. Who still waits for a connection then gets the reason at once.
 */
export async function withTransaction<T>(
  sql: Sql,
  fn: (tx: TransactionSql) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  const statements = signal && cancelRunning(signal);
  let isBegun = false;
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
      // Is it a failure of the body, or the first sign of a lost connection? By the second turn the loss has been reported.
      await nextTurn();
      await nextTurn();
      if (isLost || endsSession(error)) {
        timer ??= setTimeout(() => giveUp(error), LOSS_REPORTED_MS);
        await new Promise<never>(() => {});
      }
      throw error;
    }
  }

  function assertConnected(): void {
    signal?.throwIfAborted();
    if (isLost) throw new Error("the connection of this transaction was lost");
  }

  const follow = <R>(returned: R): R => statements?.follow(returned) ?? returned;

  function guard(tx: TransactionSql): TransactionSql {
    return new Proxy(tx, {
      apply(target, self, args) {
        assertConnected();
        return follow(Reflect.apply(target, self, args));
      },
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name === "savepoint") {
          return (body: (savepoint: TransactionSql) => Promise<unknown>) => {
            assertConnected();
            return target.savepoint((savepoint) => hold(savepoint, body));
          };
        }
        // The only other way to a statement (`run-statement.ts`).
        if (name !== "unsafe" || typeof value !== "function") return value;
        return (...args: unknown[]) => {
          assertConnected();
          return follow(Reflect.apply(value, target, args));
        };
      },
    });
  }

  const transaction = sql.begin(async (tx) => {
    // Its caller is gone. The driver rolls back, and the connection serves the next one.
    signal?.throwIfAborted();
    isBegun = true;
    return hold(tx, fn).finally(() => statements?.release());
  });
  transaction.catch(() => {
    isLost = true;
  });
  const leave = () => {
    if (!isBegun) giveUp(signal?.reason);
  };
  signal?.addEventListener("abort", leave, { once: true });
  try {
    return (await Promise.race([transaction, unreported])) as T;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", leave);
    void statements?.release();
    clearTimeout(timer);
    // A body that stops from now on needs no timer: the caller has its answer.
    timer = undefined;
    isLost = true;
  }
}

/**
 * What a standby answers when it cancels a query that holds up the changes it must replay: a failed
 * serialization, or a deadlock with the replay. A read-only transaction gets neither for another reason.
 */
const CONFLICTS: readonly (string | undefined)[] = ["40001", "40P01"];

/** Whether a standby cancelled this read, so that the same read may succeed now. */
export function isRecoveryConflict(error: unknown): boolean {
  return CONFLICTS.includes(sqlstateOf(error));
}

/**
 * Runs a read, and once more where a standby cancelled it. `mayRepeat` says whether that does no harm, such
 * as sending rows twice. @default it never does
 */
export async function repeatAfterConflict<T>(
  read: () => Promise<T>,
  mayRepeat: () => boolean = () => true,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isRecoveryConflict(error) || !mayRepeat()) throw error;
    return read();
  }
}

import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

/** A statement as the driver returns it. `canceller` is what its `cancel` calls, and says when it is done. */
export interface Statement<T> extends PromiseLike<T> {
  readonly canceller: (statement: Statement<T>) => Promise<void>;
}

/** Of the statements that were sent over a connection, the server runs the active one. */
type Sent = Statement<unknown> & { readonly active: boolean };

/** A server that does not answer a request to cancel is not waited for any longer. */
const CANCEL_WITHIN_MS = 5000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/**
 * Asks the server to cancel the running statement until there is none: a request that arrives between two messages of a
 * statement is lost. Resolves when no request is under way any more: one that arrived later would hit the next statement of
 * the same connection, which may be another reader's. Never rejects.
 */
export async function cancelUntilEnded(running: () => Statement<unknown> | undefined): Promise<void> {
  // A statement that was begun in this turn is sent at its end.
  await nextTurn();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const statement = running();
    if (statement === undefined) return;
    const answered = new AbortController();
    const late = wait(CANCEL_WITHIN_MS, undefined, { signal: answered.signal });
    // The server answers by closing the connection, which may count as a failure here.
    await Promise.race([statement.canceller(statement), late]).catch(() => {});
    answered.abort();
    late.catch(() => {});
    if (running() === statement) await wait(pauseMs);
  }
}

/** Waits for a statement. When `signal` is aborted, the server cancels the statement, and the signal's reason is thrown. */
export async function abortable<T>(statement: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  let isRunning = true;
  let cancelled: Promise<void> | undefined;
  const cancel = () => {
    cancelled = cancelUntilEnded(() => (isRunning ? (statement as Statement<unknown>) : undefined));
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await statement;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    isRunning = false;
    signal?.removeEventListener("abort", cancel);
    await cancelled;
  }
}

/**
 * Follows the statements of one transaction. When `signal` is aborted, the server cancels the running one; those behind it
 * then fail by themselves.
 */
export function cancelRunning(signal: AbortSignal) {
  const statements = new Set<Sent>();
  let cancelled: Promise<void> | undefined;
  const abort = () => {
    cancelled = cancelUntilEnded(() => [...statements].find(({ active }) => active));
  };
  signal.addEventListener("abort", abort, { once: true });

  return {
    /** Takes what the driver returned, and returns it. Anything but a statement is only returned. */
    follow<T>(returned: T): T {
      if (!(returned instanceof Promise) || !("canceller" in returned)) return returned;
      const statement = returned as unknown as Sent;
      const end = () => statements.delete(statement);
      statements.add(statement);
      // The `then` of a statement would send it.
      Promise.prototype.then.call(statement, end, end);
      return returned;
    },
    /** Stops listening. Resolves when no request to cancel is under way any more. */
    async release(): Promise<void> {
      signal.removeEventListener("abort", abort);
      await cancelled;
    },
  };
}

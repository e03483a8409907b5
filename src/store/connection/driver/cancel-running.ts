import { cancelUntilEnded, type Statement } from "../abortable.ts";

/** Of the statements that were sent over a connection, the server runs the active one. */
type Sent = Statement<unknown> & { readonly active: boolean };

/** The statements of one transaction. */
export interface RunningStatements {
  /** Follows what the driver returned until it ends. Anything but a statement is only returned. */
  follow<T>(returned: T): T;
  /** Stops listening. Resolves when no request to cancel is under way any more. */
  release(): Promise<void>;
}

/**
 * Cancels the running statement of a transaction when `signal` is aborted. The statements behind it then fail
 * by themselves.
 */
export function cancelRunning(signal: AbortSignal): RunningStatements {
  const statements = new Set<Sent>();
  let cancelled: Promise<void> | undefined;
  const abort = () => {
    cancelled = cancelUntilEnded(() => [...statements].find(({ active }) => active));
  };
  signal.addEventListener("abort", abort, { once: true });

  return {
    follow(returned) {
      if (!(returned instanceof Promise) || !("canceller" in returned)) return returned;
      const statement = returned as unknown as Sent;
      const end = () => statements.delete(statement);
      statements.add(statement);
      // The `then` of a statement would send it.
      Promise.prototype.then.call(statement, end, end);
      return returned;
    },
    async release() {
      signal.removeEventListener("abort", abort);
      await cancelled;
    },
  };
}

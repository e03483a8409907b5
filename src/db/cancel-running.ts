import { cancelStatement, type Statement } from "./abortable.ts";

/** A statement that the driver has sent, or not yet. The server runs the active one of a connection. */
type Sent = Statement<unknown> & { readonly active: boolean };

/** The statements of one transaction. */
export interface RunningStatements {
  /** Follows what the driver returned until it ends. Anything but a statement is only returned. */
  follow<T>(returned: T): T;
  /** Stops listening. Resolves when no request to cancel is under way any more. */
  release(): Promise<void>;
}

/**
 * Cancels the running statement of a transaction when `signal` is aborted. If that one ends first, the next
 * one that was already sent is cancelled, and so on. The statements behind a cancelled one fail by themselves.
 */
export function cancelRunning(signal: AbortSignal): RunningStatements {
  const statements = new Set<Sent>();
  const requests: Promise<void>[] = [];

  function cancelActive(): void {
    const active = [...statements].find((statement) => statement.active);
    if (active?.canceller) requests.push(cancelStatement(active));
  }
  function abort(): void {
    cancelActive();
    // One that was begun in this turn is sent at its end.
    setImmediate(cancelActive);
  }
  signal.addEventListener("abort", abort, { once: true });

  return {
    follow(returned) {
      if (!(returned instanceof Promise) || !("canceller" in returned)) return returned;
      const statement = returned as unknown as Sent;
      const end = () => {
        statements.delete(statement);
        if (signal.aborted) cancelActive();
      };
      statements.add(statement);
      // The `then` of a statement would send it.
      Promise.prototype.then.call(statement, end, end);
      return returned;
    },
    async release() {
      signal.removeEventListener("abort", abort);
      await Promise.all(requests);
    },
  };
}

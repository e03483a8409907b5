/**
 * A statement as the driver returns it. `canceller` is what its `cancel` calls, and says when the server has
 * dealt with the request. It is null once it was called.
 */
export interface Statement<T> extends PromiseLike<T> {
  canceller?: ((statement: Statement<T>) => Promise<void>) | null;
}

/** A server that does not answer a request to cancel is not waited for any longer. */
const CANCEL_WITHIN_MS = 5000;

/**
 * Asks the server to cancel a running statement. Resolves when it has done so. A request that arrived later
 * would hit the next statement of the same connection, which may be another reader's. Never rejects.
 */
export async function cancelStatement<T>(statement: Statement<T>): Promise<void> {
  const { canceller } = statement;
  if (!canceller) return;
  statement.canceller = null;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CANCEL_WITHIN_MS);
  });
  await Promise.race([canceller(statement).catch(() => {}), late]);
  clearTimeout(timer);
}

/**
 * Waits for a statement. When `signal` is aborted, the server cancels the statement, and the signal's reason
 * is thrown.
 */
export async function abortable<T>(statement: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  let cancelled = Promise.resolve();
  const cancel = () => {
    cancelled = cancelStatement(statement as Statement<T>);
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await statement;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", cancel);
    await cancelled;
  }
}

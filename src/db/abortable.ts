/** A statement as the driver returns it. */
interface Statement<T> extends PromiseLike<T> {
  cancel(): void;
}

/**
 * Waits for a statement. When `signal` is aborted, the server cancels the statement, and the signal's reason
 * is thrown.
 */
export async function abortable<T>(statement: Statement<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  const cancel = () => statement.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await statement;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/** What the driver gives for a statement. */
interface Statement<T> extends PromiseLike<T> {
  cancel(): void;
}

/** Waits for a statement, and cancels it at the server when `signal` is aborted; then throws the signal's reason. */
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

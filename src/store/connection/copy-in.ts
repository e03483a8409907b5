import type { Writable } from "node:stream";

/** The data of a `copy … from stdin`, on its way to the server. */
export interface CopyIn {
  /** Resolves when the chunk is on its way, so a slow server slows the writer. */
  write(chunk: Buffer): Promise<void>;
  /** Ends the data, without waiting for the result: the next statement fails where this one did. */
  end(): void;
  /** Ends it where the data ran out: none of the rows stay. */
  cancel(error: unknown): void;
  /** What the server said, where it refused the data; surely there once the next statement has failed. */
  failure(): Error | null;
}

/**
 * Wraps the driver's stream of a statement. postgres.js does not report a failure to the stream. Instead the next
 * statement fails, and with it the transaction. But the driver accepts no statement before the data is sent.
 */
export function copyIn(stream: Writable, statement: object): CopyIn {
  const cancel = stream.destroy.bind(stream);
  let failure: Error | null = null;
  // Node destroys a finished stream, and the driver then sends CopyFail, perhaps into the next COPY.
  stream.destroy = (error) => {
    failure ??= error ?? null;
    return stream;
  };
  stream.on("error", () => {});
  // The driver has resolved the statement with the stream, so that nobody hears of a failure after the end of the data.
  Object.assign(statement, {
    reject: (error: Error) => {
      failure ??= error;
    },
  });
  return {
    write: (chunk) =>
      new Promise<void>((resolve, reject) => {
        stream.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
    end: () => void stream.end(),
    cancel: (error) => void cancel(error instanceof Error ? error : new Error(String(error))),
    failure: () => failure,
  };
}

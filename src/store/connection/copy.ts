import { type Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { abortable, cancelUntilEnded, runText, type Statement, type TransactionSql } from "./sql.ts";

/** So many bytes of rows are held at a time, unless a row is longer. */
const BUFFER_BYTES = 1 << 20;

interface Copying extends Statement<unknown> {
  active: boolean;
  resolve(rows: Readable): void;
}

/**
 * Begins a `copy … to stdout`; its rows come as bytes, each with its end of line. The driver has a statement for done when its rows
 * begin to come, so that it cancels none from then on, and a failure behind the first rows may find nobody who listens.
 */
export async function startCopyOut(tx: TransactionSql, text: string, signal: AbortSignal) {
  const statement = runText(tx, text);
  const running = statement as unknown as Copying;
  const { resolve } = running;
  running.resolve = (rows) => {
    running.resolve = resolve;
    rows.on("error", () => {});
    resolve(rows);
    running.active = true;
  };
  return { rows: await abortable(statement.readable(), signal, statement), running };
}

/**
 * Runs a `copy … to stdout` and gives its rows to `write`, as many at a time as have come: the server sends a message for
 * each row, and the driver's stream keeps them apart while it flows. A slow `write` slows the server. When `write` fails or the
 * signal is aborted, the server cancels the statement, and what it still sends is thrown away, because the driver takes no other
 * statement before the end of this one.
 */
export async function copyOut(
  tx: TransactionSql,
  text: string,
  write: (rows: readonly Buffer[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { rows: stream, running } = await startCopyOut(tx, text, signal);
  let isRunning = true;
  let failure: { reason: unknown } | undefined;
  let cancelled: Promise<void> | undefined;
  const fail = (reason: unknown) => {
    failure ??= { reason };
    cancelled ??= cancelUntilEnded(() => (isRunning ? running : undefined));
  };
  const take = async (rows: readonly Buffer[]) => {
    if (failure === undefined) await write(rows).catch(fail);
  };
  const abort = () => fail(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  // An abort that came before the first row has cancelled it already.
  if (signal.aborted) abort();
  const sink = new Writable({
    highWaterMark: BUFFER_BYTES,
    write: (row: Buffer, _encoding, done) => void take([row]).then(() => done()),
    writev: (rows, done) => void take(rows.map(({ chunk }) => chunk)).then(() => done()),
  });
  try {
    await pipeline(stream, sink);
  } catch (error) {
    failure ??= { reason: error };
  } finally {
    isRunning = false;
    signal.removeEventListener("abort", abort);
    await cancelled;
  }
  if (failure !== undefined) throw failure.reason;
}

/**
 * The data of a `copy … from stdin`, on its way to the server. postgres.js does not report a failure to its stream. Instead the
 * next statement fails, and with it the transaction. But the driver accepts no statement before the data is sent.
 */
export interface CopyIn {
  /** Resolves when the chunk is on its way, so a slow server slows the writer. */
  write(chunk: Buffer): Promise<void>;
  /** Ends the data, without waiting for the result: the next statement fails where this one did. */
  end(): void;
  /** Ends it where the data ran out: none of the rows stay. */
  cancel(error: unknown): void;
  /** The server's words where it refused the data; surely there once the next statement has failed. */
  failure(): Error | null;
}

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

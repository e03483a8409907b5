import type { MirrorReader } from "../db/mirror-reader.ts";
import type { Relation } from "../db/report-dictionary.ts";
import { StoreError } from "../errors.ts";
import { toCsv } from "../report/csv.ts";
import { assertNamesKnown } from "../report/known-names.ts";
import { askFor, type Filters } from "../report/question.ts";
import { readAnswer, withSnapshot } from "../report/read-answer.ts";

/** Each reply holds a connection until its reader has taken everything. */
const MOST_AT_ONCE = 3;
/** A reader that takes nothing for this long is gone, even if its connection is still open. */
const READER_PATIENCE_MS = 30_000;

export type CsvReply = (relation: Relation, filters: Filters, gone: AbortSignal) => Promise<Response>;

/**
 * Streams an answer as CSV, as `docmirror report NAME --format csv` prints it: all rows of one snapshot, in
 * constant memory. Rejects before the first byte when there is no such answer. Breaks the connection off when
 * it fails later, so half a reply never looks complete.
 */
export function createCsvReply(mirror: MirrorReader): CsvReply {
  let underWay = 0;

  return async (relation, filters, gone) => {
    const question = askFor(relation, filters);
    await mirror.read((sql) => assertNamesKnown(sql, filters));
    if (underWay >= MOST_AT_ONCE) throw new StoreError("too many CSV replies are being read at the moment");
    const stop = new AbortController();
    const signal = AbortSignal.any([gone, stop.signal]);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const reply = createReply(relation, readable);
    const writer = writable.getWriter();
    writer.closed.catch(() => stop.abort(new Error("the reader is gone")));

    async function write(text: string): Promise<void> {
      const late = setTimeout(() => stop.abort(new Error("the reader takes nothing")), READER_PATIENCE_MS);
      try {
        // The stream reports when it has room again, so a slow reader slows the cursor down.
        await untilAborted(writer.ready, signal);
        writer.write(Buffer.from(text)).catch(() => {});
      } finally {
        clearTimeout(late);
      }
    }

    return new Promise<Response>((resolve, reject) => {
      underWay++;
      const send = async (): Promise<void> => {
        let head = toCsv([question.columns]);
        await mirror.read((sql) => {
          if (head === "") throw new StoreError("the replica cancelled the query after the first rows");
          return withSnapshot(sql, async (tx) => {
            for await (const rows of readAnswer(tx, question, { signal })) {
              resolve(reply);
              await write(head + toCsv(rows));
              head = "";
            }
          });
        });
        resolve(reply);
        if (head !== "") await write(head);
        await writer.close();
      };
      send()
        .catch((error: unknown) => {
          reject(error);
          return writer.abort(error).catch(() => {});
        })
        .finally(() => {
          underWay--;
        });
    });
  };
}

function createReply(relation: Relation, body: ReadableStream<Uint8Array>): Response {
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${relation}.csv"`,
      "cache-control": "no-store",
    },
  });
}

async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

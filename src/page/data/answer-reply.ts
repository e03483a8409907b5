import { StoreError } from "../../base/errors.ts";
import { toCsv } from "../../report/csv.ts";
import { type AnswerRow, asCell, readBatches } from "../../report/read-answer.ts";
import type { MirrorReader, TransactionSql, WrittenStatement } from "../../store/connection/sql.ts";
import { createGate, STREAMS_AT_ONCE } from "../cache/gate.ts";
import { ReaderGoneError, untilAborted } from "../cache/single-flight.ts";

/** A text that is written row by row. */
interface AnswerFormat {
  readonly type: string;
  begin(columns: readonly string[]): string;
  rows(rows: readonly AnswerRow[], columns: readonly string[], isFirst: boolean): string;
  end(isEmpty: boolean): string;
}

export type FormatName = "csv" | "json";

export const ANSWER_FORMATS: Readonly<Record<FormatName, AnswerFormat>> = {
  /** As `docmirror report NAME --format csv` prints it. */
  csv: {
    type: "text/csv; charset=utf-8; header=present",
    begin: (columns) => toCsv([columns]),
    rows: (rows) => toCsv(rows),
    end: () => "",
  },
  /** An array of objects by column, one on each line. An array that was cut off cannot be parsed. */
  json: {
    type: "application/json",
    begin: () => "[",
    rows(rows, columns, isFirst) {
      const objects = rows.map((row) =>
        JSON.stringify(Object.fromEntries(columns.map((column, place) => [column, row[place] ?? null]))),
      );
      return `${isFirst ? "" : ","}\n${objects.join(",\n")}`;
    },
    end: (isEmpty) => (isEmpty ? "]\n" : "\n]\n"),
  },
};

/** A reader that takes nothing for this long is gone, even if its connection is still open. */
const READER_PATIENCE_MS = 30_000;

/** Finds what is asked, in the snapshot that then answers it. */
export type FindQuestion = (
  tx: TransactionSql,
) => Promise<{ readonly name: string; readonly statement: WrittenStatement }>;

/** Sends an answer as a file. `reader` is aborted when the reader leaves. */
export type AnswerReply = (
  find: FindQuestion,
  formatName: FormatName,
  reader: AbortSignal,
) => Promise<Response>;

/**
 * Streams an answer as CSV or JSON: all rows of one snapshot, in constant memory. Rejects before the first
 * byte when there is no such answer. Breaks the connection off when it fails later, so half a reply never
 * looks complete.
 */
export function createAnswerReply(mirror: MirrorReader): AnswerReply {
  const gate = createGate(STREAMS_AT_ONCE);

  return async (find, formatName, reader) => {
    const format = ANSWER_FORMATS[formatName];
    const stop = new AbortController();
    const signal = AbortSignal.any([reader, stop.signal]);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const replyOf = (name: string) =>
      new Response(readable, {
        headers: {
          "content-type": format.type,
          "content-disposition": `attachment; filename="${name}.${formatName}"`,
          "cache-control": "no-store",
        },
      });
    const writer = writable.getWriter();
    writer.closed.catch(() => stop.abort(new ReaderGoneError()));

    async function write(text: string): Promise<void> {
      const late = setTimeout(() => stop.abort(new ReaderGoneError()), READER_PATIENCE_MS);
      try {
        // The stream reports when it has room again, so a slow reader slows the cursor down.
        await untilAborted(writer.ready, signal);
        writer.write(Buffer.from(text)).catch(() => {});
      } finally {
        clearTimeout(late);
      }
    }

    return new Promise<Response>((resolve, reject) => {
      async function send(): Promise<void> {
        let isBegun = false;
        let isEmpty = true;
        await mirror.snapshot(async (tx) => {
          if (isBegun) throw new StoreError("the replica cancelled the query after the first rows");
          const { name, statement } = await find(tx);
          for await (const { columns, rows } of readBatches(tx, statement, asCell)) {
            const begin = isBegun ? "" : format.begin(columns);
            if (!isBegun) resolve(replyOf(name));
            isBegun = true;
            await write(begin + (rows.length === 0 ? "" : format.rows(rows, columns, isEmpty)));
            isEmpty = rows.length === 0;
          }
        }, signal);
        const end = format.end(isEmpty);
        if (end !== "") await write(end);
        await writer.close();
      }
      gate.pass(send, signal).catch((error: unknown) => {
        reject(error);
        return writer.abort(error).catch(() => {});
      });
    });
  };
}

import { StoreError } from "../../base/errors.ts";
import { askFor } from "../../report/ask.ts";
import type { Relation } from "../../report/dictionary.ts";
import { assertNamesKnown } from "../../report/known-names.ts";
import type { AnswerFilters } from "../../report/question.ts";
import { readAnswer } from "../../report/read-answer.ts";
import type { MirrorReader } from "../../store/connection/mirror-reader.ts";
import { STREAMS_AT_ONCE } from "../cache/bounds.ts";
import { createGate } from "../cache/gate.ts";
import { ReaderGoneError } from "../cache/reader-gone.ts";
import { untilAborted } from "../cache/until-aborted.ts";
import { ANSWER_FORMATS, type FormatName } from "./answer-formats.ts";

/** A reader that takes nothing for this long is gone, even if its connection is still open. */
const READER_PATIENCE_MS = 30_000;

export type AnswerReply = (
  relation: Relation,
  format: FormatName,
  filters: AnswerFilters,
  reader: AbortSignal,
) => Promise<Response>;

/**
 * Streams an answer as CSV or JSON: all rows of one snapshot, in constant memory. Rejects before the first
 * byte when there is no such answer. Breaks the connection off when it fails later, so half a reply never
 * looks complete.
 */
export function createAnswerReply(mirror: MirrorReader): AnswerReply {
  const gate = createGate(STREAMS_AT_ONCE);

  return async (relation, formatName, filters, reader) => {
    const question = askFor(relation, filters);
    const { columns } = question;
    const format = ANSWER_FORMATS[formatName];
    const stop = new AbortController();
    const signal = AbortSignal.any([reader, stop.signal]);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const reply = new Response(readable, {
      headers: {
        "content-type": format.type,
        "content-disposition": `attachment; filename="${relation}.${formatName}"`,
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
        await mirror.snapshot(async (tx) => {
          if (isBegun) throw new StoreError("the replica cancelled the query after the first rows");
          await assertNamesKnown(tx, filters);
          for await (const rows of readAnswer(tx, question)) {
            resolve(reply);
            await write((isBegun ? "" : format.begin(columns)) + format.rows(rows, columns, !isBegun));
            isBegun = true;
          }
        }, signal);
        resolve(reply);
        const rest = (isBegun ? "" : format.begin(columns)) + format.end(!isBegun);
        if (rest !== "") await write(rest);
        await writer.close();
      }
      gate.pass(send, signal).catch((error: unknown) => {
        reject(error);
        return writer.abort(error).catch(() => {});
      });
    });
  };
}

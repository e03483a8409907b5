import { abortable } from "../db/abortable.ts";
import type { Sql, TransactionSql } from "../db/connect.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { withTransaction } from "../db/transaction.ts";
import type { Question } from "./question.ts";

/** A value of an answer: moments as ISO 8601 in UTC, days as 2026-11-03, numbers as numbers. */
export type AnswerCell = string | number | boolean | null;
/** Values in the order of the question's columns. */
export type AnswerRow = AnswerCell[];

const TIMESTAMPTZ = 1184;
const BATCH_ROWS = 500;

/** Runs `fn` in a read-only transaction in which all that it reads is of one moment. Throws StoreError, or what `fn` threw. */
export function withSnapshot<T>(sql: Sql, fn: (tx: TransactionSql) => Promise<T>): Promise<T> {
  return withStoreErrors("read the report", () =>
    withTransaction(sql, async (tx) => {
      await tx`set transaction isolation level repeatable read, read only`;
      // Whoever reads through a cursor here reads to the end, so the plan may as well be the best for all rows.
      await tx`set local cursor_tuple_fraction = 1`;
      return fn(tx);
    }),
  );
}

/**
 * The rows of an answer, by batches: memory does not grow with them. It must run in a transaction, `withSnapshot` for one. The cursor is
 * one of SQL: the driver's own ends like an answer that is whole when its connection is lost between two batches. A signal cancels what the
 * server is doing.
 */
export async function* readAnswer(
  tx: TransactionSql,
  { text, params }: Pick<Question, "text" | "params">,
  { signal, batchRows = BATCH_ROWS }: { signal?: AbortSignal | undefined; batchRows?: number } = {},
): AsyncGenerator<AnswerRow[], void, undefined> {
  await abortable(tx.unsafe(`declare answer no scroll cursor for ${text}`, params), signal);
  for (;;) {
    const batch = await abortable(tx.unsafe(`fetch ${batchRows} from answer`).values(), signal);
    const moments = batch.columns.flatMap(({ type }, index) => (type === TIMESTAMPTZ ? [index] : []));
    const rows: AnswerRow[] = [...batch];
    for (const row of rows) {
      for (const index of moments) {
        const moment = row[index];
        if (typeof moment === "string") row[index] = asIso(moment);
      }
    }
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) break;
  }
  await tx.unsafe("close answer");
}

/** Postgres' text of a moment, in a session that is in UTC, as ISO 8601; what is infinite stays so. */
export function asIso(moment: string): string {
  return moment.replace(/^(\S+) (\S+)\+00$/, "$1T$2Z");
}

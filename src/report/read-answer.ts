import { abortable } from "../store/connection/abortable.ts";
import { runText, type WrittenStatement } from "../store/connection/run-statement.ts";
import type { Sql, TransactionSql } from "../store/connection/sql.ts";
import { withStoreErrors } from "../store/connection/store-errors.ts";
import { withTransaction } from "../store/connection/transaction.ts";

/** A value of an answer: moments as ISO 8601 in UTC, days as 2026-11-03, numbers as numbers. */
export type AnswerCell = string | number | boolean | null;
/** Values in the order of the question's columns. */
export type AnswerRow = AnswerCell[];

const TIMESTAMPTZ = 1184;
const BATCH_ROWS = 500;

/**
 * Runs `fn` in a read-only transaction that shows the database at one moment. Throws StoreError, or what `fn`
 * threw. A signal cancels the running statement.
 */
export function withSnapshot<T>(
  sql: Sql,
  fn: (tx: TransactionSql) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return withStoreErrors("read the report", () =>
    withTransaction(
      sql,
      async (tx) => {
        // Every cursor here is read to its end, so the plan should be the best for all rows.
        await runText(
          tx,
          "set transaction isolation level repeatable read, read only; set local cursor_tuple_fraction = 1",
        ).simple();
        return fn(tx);
      },
      signal,
    ),
  );
}

/**
 * Reads the rows of an answer in batches, so that memory does not grow with them. Must run in a transaction,
 * such as `withSnapshot`. Uses an SQL cursor: the driver's own cursor ends without an error when the
 * connection is lost between two batches. A signal cancels the running statement.
 */
export async function* readAnswer(
  tx: TransactionSql,
  { text, params }: WrittenStatement,
  { signal, batchRows = BATCH_ROWS }: { signal?: AbortSignal | undefined; batchRows?: number } = {},
): AsyncGenerator<AnswerRow[], void, undefined> {
  await abortable(runText(tx, `declare answer no scroll cursor for ${text}`, params), signal);
  for (;;) {
    const batch = await abortable(runText(tx, `fetch ${batchRows} from answer`).values(), signal);
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
  await runText(tx, "close answer");
}

/** Converts Postgres' text of a moment, from a session in UTC, to ISO 8601. Infinity stays as it is. */
export function asIso(moment: string): string {
  return moment.replace(/^(\S+) (\S+)\+00$/, "$1T$2Z");
}

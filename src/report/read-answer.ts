import {
  abortable,
  runText,
  type Sql,
  type TransactionSql,
  type WrittenStatement,
  withTransaction,
} from "../store/connection/sql.ts";
import { withStoreErrors } from "../store/connection/store-errors.ts";

/** A value of an answer: moments as ISO 8601 in UTC, days as 2026-11-03, numbers as numbers. */
export type AnswerCell = string | number | boolean | null;
/** Values in the order of the question's columns. */
export type AnswerRow = AnswerCell[];

/** Names of columns may repeat. */
export type Batch = { readonly columns: readonly string[]; readonly rows: AnswerRow[] };

const TIMESTAMPTZ = 1184;
const NUMERIC = 1700;
/** A number of JavaScript keeps so many digits; longer ones stay text. */
const EXACT_DIGITS = 15;
const BATCH_ROWS = 500;
/** The first batch shows how long rows are. */
const FIRST_ROWS = 20;
/** So many characters are held at a time, unless a row is much longer than all before it. */
const BATCH_CHARACTERS = 4 * 1024 * 1024;
/** The text of a cursor in front of its query. */
export const DECLARE = "declare answer no scroll cursor for ";

/**
 * Runs `fn` in a read-only transaction that shows the database at one moment. Throws StoreError, or what `fn`
 * threw. A signal cancels the running statement.
 */
export function withSnapshot<T>(sql: Sql, fn: (tx: TransactionSql) => Promise<T>, signal?: AbortSignal) {
  const read = async (tx: TransactionSql) => {
    // Every cursor here is read to its end, so the plan should be the best for all rows.
    const settings =
      "set transaction isolation level repeatable read, read only; set local cursor_tuple_fraction = 1";
    await runText(tx, settings).simple();
    return fn(tx);
  };
  return withStoreErrors("read the report", () => withTransaction(sql, read, signal));
}

/**
 * Reads the rows of an answer in batches, so that memory does not grow with them. Must run in a transaction,
 * such as `withSnapshot`. Uses an SQL cursor: the driver's own cursor ends without an error when the
 * connection is lost between two batches. A signal cancels the running statement.
 */
export async function* readAnswer(tx: TransactionSql, statement: WrittenStatement, options?: ReadOptions) {
  for await (const { rows } of readBatches(tx, statement, asIsoCell, options))
    if (rows.length > 0) yield rows;
}

interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Rows of a batch at most; fewer where they are long. @default 500 */
  readonly batchRows?: number;
  /** Postgres refuses more than one statement in the text. @default so only where there are params */
  readonly isSingle?: boolean;
}

/**
 * Does the same, and says what the columns are called: the first batch comes where there are no rows too. `toCell`
 * reads a value by the number of its type, such as `asCell`.
 */
export async function* readBatches(
  tx: TransactionSql,
  { text, params }: WrittenStatement,
  toCell: (value: unknown, type: number) => AnswerCell,
  { signal, batchRows = BATCH_ROWS, isSingle = false }: ReadOptions = {},
): AsyncGenerator<Batch, void, undefined> {
  await abortable(runText(tx, DECLARE + text, params, { isSingle }), signal);
  let most = Math.min(FIRST_ROWS, batchRows);
  let longest = 1;
  for (let isFirst = true; ; isFirst = false) {
    const batch = await abortable(runText(tx, `fetch ${most} from answer`).values(), signal);
    const rows: AnswerRow[] = [...batch];
    for (const row of rows) {
      for (const [at, { type }] of batch.columns.entries()) row[at] = toCell(row[at], type);
      longest = Math.max(longest, lengthOf(row));
    }
    if (rows.length > 0 || isFirst) yield { columns: batch.columns.map(({ name }) => name), rows };
    if (rows.length < most) break;
    most = Math.max(1, Math.min(batchRows, Math.floor(BATCH_CHARACTERS / longest)));
  }
  await runText(tx, "close answer");
}

const lengthOf = (row: AnswerRow): number =>
  row.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 0), 0);

/** A value of a relation, where only moments have another form than the driver gives them. */
const asIsoCell = (value: unknown, type: number): AnswerCell =>
  type === TIMESTAMPTZ && typeof value === "string" ? asIso(value) : (value as AnswerCell);

/** A value of any statement. Lists and JSON become JSON text, bytes hex digits; a number that JSON has no word for, its name. */
export function asCell(value: unknown, type: number | undefined): AnswerCell {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") {
    if (type === NUMERIC && value.length <= EXACT_DIGITS) return asCell(Number(value), type);
    return type === TIMESTAMPTZ ? asIso(value) : value;
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  return JSON.stringify(value);
}

/** Converts Postgres' text of a moment, from a session in UTC, to ISO 8601. Infinity stays as it is. */
export function asIso(moment: string): string {
  return moment.replace(/^(\S+) (\S+)\+00$/, "$1T$2Z");
}

const MOMENT = /^\d+-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00$/;

/** Copies JSON. Each text that is a moment of Postgres becomes ISO 8601. */
export function withIsoMoments<T>(value: T): T {
  if (typeof value === "string") return (MOMENT.test(value) ? asIso(value) : value) as T;
  if (Array.isArray(value)) return value.map(withIsoMoments) as T;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withIsoMoments(inner)])) as T;
}

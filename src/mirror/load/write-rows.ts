/**
 * Writes rows of the mirror. From here to a figure no code leads: triggers of the baseline (`touch_insert`, `touch_update`,
 * `touch_delete`) note in `sync.touched_records` which project, version or build a statement changed, of every writer and in its own
 * transaction, and the next refresh takes them from there (`src/report/refresh/compute-answers.ts`).
 */
import { parseLocalTime } from "../../resources/local-time.ts";
import { toJson } from "../../resources/parse-json.ts";
import { copyIn } from "../../store/connection/copy.ts";
import { compose, composed, nameOf, type TransactionSql } from "../../store/connection/sql.ts";
import { type ColumnSpec, columnOf, type TableRow, type TableSpec } from "./tables.ts";

/** About 4 MB, twice a full batch. */
const MAX_CHUNKS_AHEAD = 32;

/** The way to write rows: COPY in the common case; INSERT shows what is wrong with a row that COPY refused. */
export type WriteMethod = "copy" | "insert";

/** Adds new rows. With `copy`, an error shows only in the next statement of the transaction. */
export async function addRows(
  tx: TransactionSql,
  spec: TableSpec,
  rows: readonly TableRow[],
  method: WriteMethod,
): Promise<void> {
  if (rows.length === 0) return;
  const { table } = spec;
  const names = compose.join(
    spec.columns.map(({ name }) => nameOf(columnOf(table, name))),
    compose`, `,
  );
  if (method === "insert") {
    await composed(tx)`
      insert into ${table} (${names})
      select ${names} from jsonb_populate_recordset(null::${table}, ${jsonRows(spec, rows)}::text::jsonb)`;
    return;
  }
  const statement = composed(tx)`copy ${table} (${names}) from stdin with (format binary)`;
  const stream = statement.writable();
  // A failure is thrown below, behind the encoding.
  stream.catch(() => {});
  // The driver sends a statement some microtasks after it was made.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const chunks = encodeAhead(encodeCopy(spec.columns, rows));
  const copy = copyIn(await stream, statement);
  try {
    for (const chunk of chunks) await copy.write(chunk);
  } catch (error) {
    // The rows cannot be encoded, so the server must not wait for more.
    copy.cancel(error);
    throw error;
  }
  copy.end();
}

/** Encodes the first chunks while Postgres is busy with the statement before. A failure shows when the chunks are taken. */
function encodeAhead(chunks: Generator<Buffer>): Iterable<Buffer> {
  const first: Buffer[] = [];
  let failure: { error: unknown } | null = null;
  try {
    while (first.length < MAX_CHUNKS_AHEAD) {
      const { value, done } = chunks.next();
      if (done) break;
      first.push(value);
    }
  } catch (error) {
    failure = { error };
  }
  return (function* () {
    yield* first;
    if (failure) throw failure.error;
    yield* chunks;
  })();
}

/**
 * Replaces rows by id. The columns in `keep` are not changed, nor is a column for which a row has no value: null is one.
 */
export async function replaceRows(
  tx: TransactionSql,
  spec: TableSpec,
  rows: readonly TableRow[],
  keep: readonly string[],
): Promise<void> {
  if (rows.length === 0) return;
  const { table, columns } = spec;
  const [key, ...others] = columns.map(({ name }) => columnOf(table, name)).map(nameOf);
  const assignments = others
    .filter(({ value }) => !keep.includes(value))
    .map((name) => compose`${name} = incoming.${name}`);
  await composed(tx)`
    update ${table} as stored set ${compose.join(assignments, compose`, `)}
    from ${mergedRows(spec, rows)} where stored.${key} = incoming.${key}`;
}

/** `incoming`: the stored rows with these ids, as `known`, with the values of these rows. A column without a value stays as it is. */
export function mergedRows(spec: TableSpec, rows: readonly TableRow[]) {
  const [key = ""] = spec.columns.map(({ name }) => name);
  return compose`jsonb_array_elements(${jsonRows(spec, rows)}::text::jsonb) as given (row)
    join ${spec.table} as known on known.${nameOf(columnOf(spec.table, key))} = given.row ->> ${key}
    cross join lateral jsonb_populate_record(known, given.row) as incoming`;
}

/** Rows as JSON, with the columns of the table alone. A bytea is written as `\\x…`. */
function jsonRows(table: TableSpec, rows: readonly TableRow[]): string {
  return toJson(
    rows.map((row) =>
      Object.fromEntries(
        table.columns.map(({ name, type }) => [name, type === "bytea" ? `\\x${row[name]}` : row[name]]),
      ),
    ),
  );
}

/** 2000-01-01, where Postgres starts to count, in microseconds since 1970. */
const POSTGRES_EPOCH = 946_684_800_000_000n;
const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
/** The approximate size of a chunk. Postgres stores the rows of one chunk while the next one is encoded. */
const CHUNK_BYTES = 128 * 1024;

/** In Postgres' binary COPY format (manual, COPY, "Binary Format"), in chunks. Throws for a value that does not fit its column. */
export function* encodeCopy(columns: readonly ColumnSpec[], rows: readonly TableRow[]): Generator<Buffer> {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let length = SIGNATURE.copy(buffer, 0);

  const reserve = (bytes: number) => {
    if (length + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + bytes));
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  };
  const writeText = (text: string) => {
    // UTF-8 needs at most three bytes a UTF-16 unit. To reserve so many is faster than to measure.
    reserve(4 + text.length * 3);
    const bytes = buffer.write(text, length + 4, "utf8");
    buffer.writeInt32BE(bytes, length);
    length += 4 + bytes;
  };

  // Moments come from `Date.toISOString`. All rows of a page have the same one, so the last one is cached.
  let moment = "";
  let momentValue = 0n;
  const momentMicroseconds = (text: string) => {
    if (text !== moment) {
      momentValue = BigInt(Date.parse(text)) * 1000n;
      moment = text;
    }
    return momentValue;
  };

  for (const row of rows) {
    if (length >= CHUNK_BYTES * 0.75) {
      yield buffer.subarray(0, length);
      buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      length = 0;
    }
    reserve(2);
    length = buffer.writeInt16BE(columns.length, length);
    for (const { name, type } of columns) {
      const value = row[name];
      reserve(32);
      if (value === null || value === undefined) {
        length = buffer.writeInt32BE(-1, length);
      } else if (type === "text") {
        writeText(value as string);
      } else if (type === "boolean") {
        length = buffer.writeInt32BE(1, length);
        length = buffer.writeInt8(value ? 1 : 0, length);
      } else if (type === "integer") {
        length = buffer.writeInt32BE(4, length);
        length = buffer.writeInt32BE(value as number, length);
      } else if (type === "bigint") {
        length = buffer.writeInt32BE(8, length);
        length = buffer.writeBigInt64BE(BigInt(value as number), length);
      } else if (type === "timestamp" || type === "timestamptz") {
        length = buffer.writeInt32BE(8, length);
        length = buffer.writeBigInt64BE(
          (type === "timestamp" ? localMicroseconds(value as string) : momentMicroseconds(value as string)) -
            POSTGRES_EPOCH,
          length,
        );
      } else if (type === "bytea") {
        const bytes = (value as string).length / 2;
        reserve(4 + bytes);
        length = buffer.writeInt32BE(bytes, length);
        length += buffer.write(value as string, length, "hex");
      } else {
        const json = toJson(value);
        reserve(5 + json.length * 3);
        const bytes = buffer.write(json, length + 5, "utf8");
        buffer.writeInt32BE(bytes + 1, length);
        buffer.writeInt8(1, length + 4); // the version of jsonb's binary form
        length += 5 + bytes;
      }
    }
  }
  reserve(2);
  length = buffer.writeInt16BE(-1, length);
  yield buffer.subarray(0, length);
}

/** `parseLocalTime` has read these texts before, so a failure here is a bug. */
function localMicroseconds(text: string): bigint {
  const time = parseLocalTime(text);
  if (!time) throw new Error(`not a local time: ${text}`);
  return time.microseconds;
}

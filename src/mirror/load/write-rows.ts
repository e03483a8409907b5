import { type CopyIn, copyIn } from "../../store/connection/copy-in.ts";
import { compose, nameOf, runStatement } from "../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { encodeCopy } from "./copy-binary.ts";
import { columnOf, type TableRow, type TableSpec } from "./tables.ts";

/** About 4 MB, twice a full batch. */
const MAX_CHUNKS_AHEAD = 32;

/** How rows are written: COPY in the common case; INSERT shows what is wrong with a row that COPY refused. */
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
    await runStatement(
      tx,
      compose`
        insert into ${table} (${names})
        select ${names} from jsonb_populate_recordset(null::${table}, ${jsonRows(spec, rows)}::text::jsonb)`,
    );
    return;
  }
  const statement = runStatement(tx, compose`copy ${table} (${names}) from stdin with (format binary)`);
  const stream = statement.writable();
  // A failure is thrown below, behind the encoding.
  stream.catch(() => {});
  // The driver sends a statement some microtasks after it was made.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const chunks = encodeAhead(encodeCopy(spec.columns, rows));
  await sendCopy(copyIn(await stream, statement), chunks);
}

/**
 * Encodes the first chunks at once, while Postgres is busy with the statement before. Later ones, of a huge
 * page, are encoded as they are sent. A failure shows when the chunks are taken.
 */
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
  return joined(first, chunks, failure);
}

function* joined(first: Buffer[], rest: Generator<Buffer>, failure: { error: unknown } | null) {
  yield* first;
  if (failure) throw failure.error;
  yield* rest;
}

/** Sends the data of a COPY and ends it, without waiting for the result (`copy-in.ts`). */
async function sendCopy(copy: CopyIn, chunks: Iterable<Buffer>): Promise<void> {
  try {
    for (const chunk of chunks) await copy.write(chunk);
  } catch (error) {
    // The rows cannot be encoded, so the server must not wait for more.
    copy.cancel(error);
    throw error;
  }
  copy.end();
}

/** Replaces rows by id. The columns in `keep` are not changed. */
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
  await runStatement(
    tx,
    compose`
      update ${table} as stored set ${compose.join(assignments, compose`, `)}
      from jsonb_populate_recordset(null::${table}, ${jsonRows(spec, rows)}::text::jsonb) as incoming
      where stored.${key} = incoming.${key}`,
  );
}

/** Rows for `jsonb_populate_recordset`, with the columns of the table alone. A bytea is written as `\\x…`. */
export function jsonRows(table: TableSpec, rows: readonly TableRow[]): string {
  return JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        table.columns.map(({ name, type }) => [name, type === "bytea" ? `\\x${row[name]}` : row[name]]),
      ),
    ),
  );
}

import type { Writable } from "node:stream";
import type { TransactionSql } from "../db/connect.ts";
import { encodeCopy } from "./copy-binary.ts";
import type { Row, TableSpec } from "./tables.ts";

/** How rows go in: COPY for the common case; INSERT tells what is wrong with a row that COPY refused. */
export type WriteMethod = "copy" | "insert";

/** Adds rows that are not there yet. With `copy`, a fault shows only in the next statement of the transaction. */
export async function addRows(
  tx: TransactionSql,
  table: TableSpec,
  rows: readonly Row[],
  method: WriteMethod,
): Promise<void> {
  if (rows.length === 0) return;
  const names = table.columns.map(({ name }) => `"${name}"`).join(", ");
  if (method === "insert") {
    await tx.unsafe(
      `insert into ${table.name} (${names})
       select ${names} from jsonb_populate_recordset(null::${table.name}, $1::text::jsonb)`,
      [jsonRows(table, rows)],
    );
    return;
  }
  const stream = await tx.unsafe(`copy ${table.name} (${names}) from stdin with (format binary)`).writable();
  await sendCopy(stream, encodeCopy(table.columns, rows));
}

/**
 * Sends the data of a COPY and ends it, without waiting for the server's word: postgres.js does not tell a failure to the stream, the
 * statement that follows fails instead, and with it the transaction. But the driver takes no statement before the data is out.
 */
async function sendCopy(stream: Writable, chunks: Iterable<Buffer>): Promise<void> {
  const cancel = stream.destroy.bind(stream);
  // A stream that has finished is destroyed by Node, for which the driver sends CopyFail; when the next COPY has begun
  // by then, that one is what fails.
  stream.destroy = () => stream;
  stream.on("error", () => {});
  try {
    for (const chunk of chunks) {
      await new Promise<void>((resolve, reject) => {
        stream.write(chunk, (error) => (error ? reject(error) : resolve()));
      });
    }
  } catch (error) {
    // Rows that cannot be encoded: the server must not wait for more.
    cancel(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
  stream.end();
}

/** Replaces rows by id. Columns named in `keep` stay as they are. */
export async function replaceRows(
  tx: TransactionSql,
  table: TableSpec,
  rows: readonly Row[],
  keep: readonly string[],
): Promise<void> {
  if (rows.length === 0) return;
  const key = table.columns[0]?.name ?? "id";
  const columns = table.columns
    .map(({ name }) => name)
    .filter((name) => name !== key && !keep.includes(name));
  const assignments = columns.map((name) => `"${name}" = incoming."${name}"`).join(", ");
  await tx.unsafe(
    `update ${table.name} as stored set ${assignments}
     from jsonb_populate_recordset(null::${table.name}, $1::text::jsonb) as incoming
     where stored."${key}" = incoming."${key}"`,
    [jsonRows(table, rows)],
  );
}

/** Rows as the JSON that `jsonb_populate_recordset` reads, the table's columns alone: a bytea is written `\\x…`. */
export function jsonRows(table: TableSpec, rows: readonly Row[]): string {
  return JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        table.columns.map(({ name, type }) => [name, type === "bytea" ? `\\x${row[name]}` : row[name]]),
      ),
    ),
  );
}

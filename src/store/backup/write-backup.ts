/**
 * Backups of a mirror: written from one snapshot, read back, restored into an empty place. For mirrors whose server has
 * no `pg_dump` beside it, as the embedded one.
 */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { toOutputError } from "../../base/errors.ts";
import { renewConnections } from "../connection/connect.ts";
import { startCopyOut } from "../connection/copy.ts";
import {
  abortable,
  oneRow,
  runText,
  type Sql,
  type TransactionSql,
  withTransaction,
} from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";
import type { Definitions } from "../migrate/definitions.ts";
import { assertCurrent } from "../migrate/migrate.ts";
import { readMigrations } from "../migrate/migration-ledger.ts";
import { withBackupFile } from "./backup-file.ts";
import { type MirrorTable, mirrorTables, quoteName, quoteTable } from "./mirror-tables.ts";
import {
  type BackupFacts,
  type BackupHeader,
  checkBackup,
  countRows,
  frame,
  jsonFrame,
  LIMITS,
  MAGIC,
} from "./read-backup.ts";

export interface BackupOptions {
  sql: Sql;
  /** The program's, to refuse a mirror of another version. */
  definitions: Definitions;
  /** Replaced where it is a backup; anything else there is refused. */
  file: string;
  signal: AbortSignal;
  /** Called often. `total` is what the server estimates while it writes, and exact while it reads back. */
  onProgress?: (phase: "write" | "check", rows: number, total: number | null) => void;
}

export type WrittenBackup = BackupFacts & { bytes: number };

/**
 * Writes a backup of all tables as they are at one moment, while runs go on, and reads it back before it takes its
 * place. Memory does not grow with the rows. Throws ConfigError for the file, SchemaVersionError, StoreError, or the
 * signal's reason; what was there before then stays.
 */
export function writeBackup(options: BackupOptions): Promise<WrittenBackup> {
  const { file, signal, onProgress } = options;
  return withBackupFile(file, async (handle, draft) => {
    const rows = await withStoreErrors("back up the mirror", () => writeFrames(options, handle));
    const onRows = (read: number) => onProgress?.("check", read, rows);
    return checkBackup(draft, { signal, onRows });
  });
}

async function writeFrames(options: BackupOptions, handle: FileHandle): Promise<number> {
  const { sql, signal, file } = options;
  let failure: unknown;
  let rows = 0;
  try {
    await withTransaction(
      sql,
      async (tx) => {
        try {
          const onRows = (added: number) => {
            rows += added;
          };
          await pipeline(
            Readable.from(frames(tx, options, onRows), { objectMode: true }),
            createGzip({ level: constants.Z_BEST_SPEED }),
            // The pipeline would say only that it was ended.
            (source: AsyncIterable<Buffer>) =>
              append(handle, source, file).catch((error: unknown) => {
                failure = error;
                throw error;
              }),
            { signal },
          );
        } catch (error) {
          failure = signal.aborted ? signal.reason : (failure ?? error);
          // The server still sends the rows of the COPY, and nobody reads them.
          renewConnections(sql);
          throw error;
        }
      },
      signal,
    );
  } catch (error) {
    throw failure ?? error;
  }
  return rows;
}

/** Errors of the disk get their words here, where it is sure that they are not the database's. */
async function append(handle: FileHandle, source: AsyncIterable<Buffer>, file: string): Promise<void> {
  for await (const chunk of source) {
    try {
      await handle.writeFile(chunk);
    } catch (error) {
      throw toOutputError(error, file);
    }
  }
}

async function* frames(
  tx: TransactionSql,
  { definitions, signal, onProgress }: BackupOptions,
  onRows: (added: number) => void,
): AsyncGenerator<Buffer> {
  await runText(tx, "set transaction isolation level repeatable read, read only").simple();
  const tables = mirrorTables(definitions.tables);
  // Before the snapshot, which begins with the first query: a migration that truncates or rewrites a table after it would
  // leave that table empty for it. Names of `src/store/schema`.
  const names = tables.map(({ name }) => quoteTable(name)).join(", ");
  await abortable(runText(tx, `lock table ${names} in access share mode`), signal);
  const header = await describeMirror(tx, definitions, tables);
  const total = await estimateRows(tx, header);
  let done = 0;
  const hash = createHash("sha256");
  const hashed = (bytes: Buffer): Buffer => {
    hash.update(bytes);
    return bytes;
  };
  yield hashed(MAGIC);
  yield hashed(jsonFrame("H", header));
  for (const { name, columns } of header.tables) {
    let rows = 0;
    const text = `copy ${quoteTable(name)} (${columns.map(quoteName).join(", ")}) to stdout`;
    const data = await startCopyOut(tx, text, signal);
    for await (const bytes of inFrames(data.rows)) {
      const added = countRows(bytes);
      rows += added;
      done += added;
      onRows(added);
      onProgress?.("write", done, total === null ? null : Math.max(total, done));
      yield hashed(frame("D", bytes));
    }
    yield hashed(jsonFrame("E", { rows }));
  }
  yield jsonFrame("Z", { sha256: hash.digest("hex") });
}

/** Joins the rows, which come one by one, and cuts what is too long for a frame. */
async function* inFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let kept: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += LIMITS.D) {
      const part = chunk.subarray(at, at + LIMITS.D);
      if (length + part.length > LIMITS.D) {
        yield Buffer.concat(kept);
        kept = [];
        length = 0;
      }
      kept.push(part);
      length += part.length;
    }
  }
  if (length > 0) yield Buffer.concat(kept);
}

async function describeMirror(
  tx: TransactionSql,
  definitions: Definitions,
  tables: readonly MirrorTable[],
): Promise<BackupHeader> {
  // In the snapshot: a migration may have ended since the command began.
  await assertCurrent(tx, definitions);
  const { taken_at } = await oneRow(
    tx<{ taken_at: string }[]>`
      select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as taken_at`,
  );
  const numbers: BackupHeader["numbers"] = [];
  for (const { name, identity } of tables) {
    if (identity === undefined) continue;
    const { last } = await oneRow(
      tx<{ last: number | null }[]>`
        select pg_sequence_last_value(pg_get_serial_sequence(${quoteTable(name)}, ${identity})::regclass) as last`,
    );
    if (last !== null) numbers.push({ table: name, column: identity, last });
  }
  return {
    version: definitions.version,
    taken_at,
    migrations: readMigrations().map(({ tag, hash }) => ({ tag, hash })),
    tables: tables.map(({ name, columns }) => ({ name, columns })),
    numbers,
  };
}

/** By the statistics of the server. Null before the first. */
async function estimateRows(tx: TransactionSql, { tables }: BackupHeader): Promise<number | null> {
  const names = tables.map(({ name }) => name);
  const { rows } = await oneRow(
    tx<{ rows: number | null }[]>`
      select nullif(sum(greatest(reltuples, 0)), 0)::float8 as rows
      from pg_class join pg_namespace as space on space.oid = relnamespace where nspname || '.' || relname = any (${names})`,
  );
  return rows;
}

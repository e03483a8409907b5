import { ConfigError, LockedError, SchemaVersionError } from "../../base/errors.ts";
import { type CopyIn, copyIn } from "../connection/copy.ts";
import {
  abortable,
  oneRow,
  runText,
  type Sql,
  type TransactionSql,
  withTransaction,
} from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";
import { tryReserve } from "../ledger/leases.ts";
import type { Definitions } from "../migrate/definitions.ts";
import { assertServerUsable, migrateAround } from "../migrate/migrate.ts";
import { readMigrations } from "../migrate/migration-ledger.ts";
import { findTables, quoteName, quoteTable, type StoredTable } from "./mirror-tables.ts";
import {
  type BackedUpTable,
  type BackupHeader,
  type BackupPart,
  readBackup,
  unusable,
} from "./read-backup.ts";

export interface RestoreOptions {
  sql: Sql;
  definitions: Definitions;
  file: string;
  /** Where the mirror is to be, for messages. */
  place: string;
  signal: AbortSignal;
  onRows?: (rows: number) => void;
}

/**
 * Restores a backup into a place without records and runs, all or nothing: one transaction makes the schema that the backup
 * had, fills it, brings it up to date, and is committed when the file was read to its end and was whole. Throws ConfigError for
 * the file and for a mirror that is not empty, SchemaVersionError, LockedError, StoreError, or the signal's reason.
 */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { sql, definitions, file, place, signal } = options;
  await withStoreErrors("restore the backup", async () => {
    await assertServerUsable(sql);
    await withTransaction(
      sql,
      async (tx) => {
        const parts = readBackup(file, signal);
        try {
          const first = (await parts.next()).value;
          if (first?.kind !== "header") throw unusable(file, "it has no header");
          const { header } = first;
          const under = countMigrations(header, file);
          const fill = async () => {
            await assertEmpty(tx, place);
            await fillTables(tx, parts, header, options);
          };
          await migrateAround(tx, definitions, under, fill, signal);
          await settle(tx);
        } finally {
          await parts.return(undefined);
        }
      },
      signal,
    );
  });
}

/** The number of the program's migrations that the backup had. Throws where it had others. */
export function countMigrations({ migrations, version }: BackupHeader, file: string): number {
  const known = readMigrations();
  const isKnown = migrations.every(({ tag, hash }, at) => known[at]?.tag === tag && known[at]?.hash === hash);
  if (isKnown && migrations.length > 0) return migrations.length;
  throw new SchemaVersionError(
    `${file} cannot be restored: docmirror ${version} made it, whose schema this program does not know`,
    {
      hint: "upgrade docmirror to that version, or a later one; who goes back to an older version restores a backup that it made",
    },
  );
}

async function assertEmpty(tx: TransactionSql, place: string): Promise<void> {
  if (!(await tryReserve(tx, "run")))
    throw new LockedError(`a run is under way in ${place}`, { hint: "stop the worker there" });
  const tables = (await findTables(tx)).filter(
    ({ schema, name }) => schema === "mirror" || ["sync.runs", "sync.service"].includes(name),
  );
  for (const { name, quoted } of tables) {
    if ((await runText(tx, `select from ${quoted} limit 1`)).count > 0)
      throw new ConfigError(`there is a mirror in ${place} already: ${name} has rows`, {
        hint: "name a new data folder (--data-dir) or a new database",
      });
  }
}

async function fillTables(
  tx: TransactionSql,
  parts: AsyncGenerator<BackupPart>,
  header: BackupHeader,
  { file, signal, onRows }: RestoreOptions,
): Promise<void> {
  const tables = matchTables(header, await findTables(tx), file);
  // The notes of triggers were made before, and came with the backup. Foreign keys are checked as ever.
  for (const { quoted } of tables) await runText(tx, `alter table ${quoted} disable trigger user`);
  // Migrations wrote some rows, such as the rules for errors.
  await runText(tx, `truncate ${tables.map(({ quoted }) => quoted).join(", ")}`);
  let copy: CopyIn | null = null;
  let ended: CopyIn | null = null;
  let read = 0;
  try {
    for await (const part of parts) {
      if (part.kind === "header") continue;
      if (part.kind === "rows") {
        copy ??= await beginCopy(tx, part.table, signal);
        await copy.write(part.bytes);
        read += part.rows;
        onRows?.(read);
        if (copy.failure() === null) continue;
      }
      copy?.end();
      ended = copy;
      copy = null;
      const failure = ended?.failure();
      if (failure) throw failure;
      if (part.kind === "end") await assertRows(tx, part, file);
    }
  } catch (error) {
    // The driver takes no other statement before, not even a rollback.
    copy?.cancel(error);
    // The statement behind a COPY that failed says only that the transaction has failed.
    throw refusedRows(ended?.failure() ?? error, file);
  }
  await giveNumbers(tx, header, tables, file);
  for (const { quoted } of tables) await runText(tx, `alter table ${quoted} enable trigger user`);
}

async function beginCopy(tx: TransactionSql, table: BackedUpTable, signal: AbortSignal): Promise<CopyIn> {
  // Names that `matchTables` has found in the catalog.
  const text = `copy ${quoteTable(table.name)} (${table.columns.map(quoteName).join(", ")}) from stdin`;
  const statement = runText(tx, text);
  return copyIn(await abortable(statement.writable(), signal, statement), statement);
}

/** The file says how many rows it has. A line `\.` would end them early for some servers. */
async function assertRows(
  tx: TransactionSql,
  { table, rows }: { table: BackedUpTable; rows: number },
  file: string,
): Promise<void> {
  const text = `select count(*)::float8 as rows from ${quoteTable(table.name)}`;
  const stored = await oneRow(runText<{ rows: number }>(tx, text));
  if (stored.rows !== rows) throw unusable(file, `${table.name} took ${stored.rows} of ${rows} rows`);
}

/** Class 22 and 23: values that no column takes, rows that refer to none. Such a file was not made by a backup. */
function refusedRows(error: unknown, file: string): unknown {
  const { code = "", message = "" } = (error instanceof Error ? error : {}) as NodeJS.ErrnoException;
  return /^2[23]...$/.test(code)
    ? unusable(file, `its rows are refused: ${message} (${code})`, error)
    : error;
}

function matchTables(
  { tables: given }: BackupHeader,
  stored: readonly StoredTable[],
  file: string,
): StoredTable[] {
  const names = new Set(given.map(({ name }) => name));
  const strange = given.find(({ name }) => !stored.some((table) => table.name === name));
  if (strange !== undefined) throw unusable(file, `the schema has no table ${strange.name}`);
  if (names.size < given.length) throw unusable(file, "it has a table twice");
  // A user may keep tables in `report`.
  const lacking = stored.find(({ name, schema }) => schema !== "report" && !names.has(name));
  if (lacking !== undefined) throw unusable(file, `it lacks the table ${lacking.name}`);
  const matched = stored.filter(({ name }) => names.has(name));
  for (const { name, columns } of matched) {
    const theirs = given.find((table) => table.name === name)?.columns ?? [];
    if (theirs.toSorted().join() !== columns.toSorted().join())
      throw unusable(file, `the columns of ${name} are not those of the schema`);
  }
  return matched;
}

/** Numbers go on after the last one that was given, so that no run has the number of one that was pruned. */
async function giveNumbers(
  tx: TransactionSql,
  { numbers }: BackupHeader,
  tables: readonly StoredTable[],
  file: string,
): Promise<void> {
  for (const { table, column, last } of numbers) {
    const stored = tables.find(({ name }) => name === table);
    if (!stored?.columns.includes(column) || last < 1) throw unusable(file, "it gives numbers to no table");
    await runText(
      tx,
      `select setval(pg_get_serial_sequence($1, $2)::regclass, greatest($3::bigint, max(${quoteName(column)}))) from ${stored.quoted}`,
      [stored.quoted, column, last],
    );
  }
}

/** A run that was under way when the backup was taken is not under way here. */
async function settle(tx: TransactionSql): Promise<void> {
  await tx`
    update sync.runs set status = 'interrupted', finished_at = heartbeat_at, error = 'the backup was taken while it ran'
    where status = 'running'`;
  for (const { quoted } of await findTables(tx)) await runText(tx, `analyze ${quoted}`);
}

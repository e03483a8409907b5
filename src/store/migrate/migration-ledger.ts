import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import {
  type AnySql,
  abortable,
  oneRow,
  readSqlFile,
  runText,
  statement,
  type TransactionSql,
} from "../connection/sql.ts";

/** In the package, however deep this file or the bundle is. */
const FOLDER = join(dirname(createRequire(import.meta.url).resolve("docmirror/package.json")), "migrations");

const HAS_LEDGER = statement<{ isMade: boolean }>("has_ledger", import.meta.url);
const STORED_SCHEMA = statement<StoredSchema>("stored_schema", import.meta.url);

export interface Migration {
  tag: string;
  hash: string;
  /** A program that does not know it may go on. Its first line says so, as `-- additive: …`. */
  additive: boolean;
  statements: string[];
}

let own: readonly Migration[] | undefined;

/** The migrations of this program, in order. Their files are read once: an upgrade may replace them while it runs. */
export function readMigrations(): readonly Migration[] {
  if (own) return own;
  const journal: { entries: { tag: string }[] } = JSON.parse(
    readFileSync(`${FOLDER}/meta/_journal.json`, "utf8"),
  );
  own = journal.entries.map(({ tag }) => {
    const text = readSqlFile(`${FOLDER}/${tag}.sql`);
    return {
      tag,
      hash: createHash("sha256").update(text).digest("hex"),
      additive: text.startsWith("-- additive: "),
      statements: text.split("--> statement-breakpoint"),
    };
  });
  return own;
}

/** Any number that no other program of this database uses. */
const FIRST_TURN_KEY = 7_305_110_624;

/**
 * Waits for the turn of this transaction: two migrations at once wait for each other. The lock is that of a table, which a role that may
 * not migrate cannot take. A database without the table has no such role yet, and a number has to do.
 */
export async function takeMigrationTurn(tx: TransactionSql, signal?: AbortSignal): Promise<void> {
  const mayLock = async () => {
    const right = tx<{ mayLock: boolean | null }[]>`
      select has_table_privilege(to_regclass('sync.migrations'), 'update') as "mayLock"`;
    return (await oneRow(right)).mayLock;
  };
  if ((await mayLock()) === null)
    await abortable(tx`select pg_advisory_xact_lock(${FIRST_TURN_KEY})`, signal);
  // The one before may have made it.
  if (await mayLock()) await abortable(tx`lock table sync.migrations in share row exclusive mode`, signal);
}

export interface AppliedMigration {
  tag: string;
  hash: string;
  appliedAt: string;
  /** As in `Migration`. */
  additive: boolean;
}

/** A definition of the reports that a database has (`definitions.ts`), and the version of the program that wrote it. */
export interface StoredDefinition {
  name: string;
  hash: string;
  version: string;
}

/** The schema of a database. Both may include some that this program does not know. */
export interface StoredSchema {
  applied: AppliedMigration[];
  defined: StoredDefinition[];
}

/** Empty for a database without our schema. Changes nothing. `isMade`: whether the tables of the ledger are there, where that was asked. */
export async function readSchema(sql: AnySql, isMade?: boolean): Promise<StoredSchema> {
  const hasLedger = isMade ?? (await oneRow(HAS_LEDGER(sql))).isMade;
  return hasLedger ? oneRow(STORED_SCHEMA(sql)) : { applied: [], defined: [] };
}

const CREATE_LEDGER = readSqlFile(new URL("sql/create_ledger.sql", import.meta.url));

/** The first call creates the ledger. */
export async function recordApplied(tx: TransactionSql, added: readonly Migration[]): Promise<void> {
  if (added.length > 0) await runText(tx, CREATE_LEDGER);
  for (const { tag, hash, additive } of added) {
    await tx`
      insert into sync.migrations (tag, hash, applied_at, additive) values (${tag}, ${hash}, now(), ${additive})`;
  }
}

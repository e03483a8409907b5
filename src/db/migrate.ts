import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as applyMigrations } from "drizzle-orm/postgres-js/migrator";
import { SchemaVersionError, StoreError } from "../errors.ts";
import { abortable } from "./abortable.ts";
import { connect, type Sql } from "./connect.ts";
import { applyReportComments } from "./report-comments.ts";
import { readServerFacts, type ServerFacts } from "./server-facts.ts";
import { withStoreErrors } from "./store-errors.ts";

/** One level above `src` as above `dist`: the package's own folder. */
const MIGRATIONS_FOLDER = fileURLToPath(new URL("../../migrations", import.meta.url));

/** Any number that no other program of this database uses: two migrations at once wait for each other. */
const LOCK_KEY = 7_305_110_624;

const OLDEST_SERVER = 15;

export interface MigrationEntry {
  tag: string;
  /** When it was applied, UTC; null while it is to come. */
  appliedAt: string | null;
}

export interface MigrationStatus {
  /** Of the database, seen from this program. "newer": it holds a migration that this program does not know. */
  state: "current" | "older" | "newer";
  /** The program's migrations in their order. */
  migrations: MigrationEntry[];
  /** Migrations in the database that this program does not know. */
  unknown: number;
}

interface JournalEntry {
  tag: string;
  when: number;
}

/**
 * Applies what is missing, all or nothing. Safe to repeat, and safe while another process does the same: it
 * waits. Gives the tags applied by this call. Throws StoreError, or SchemaVersionError for a newer database.
 */
export async function migrate(url: string, options: { signal?: AbortSignal } = {}): Promise<string[]> {
  // A client of its own: drizzle() changes how a client writes parameters. One connection, since the lock
  // belongs to it.
  const sql = connect(url, { applicationName: "docmirror migrate", max: 1 });
  try {
    return await withStoreErrors("bring the schema up to date", async () => {
      await assertServerUsable(sql);
      await lock(sql, options.signal);
      const before = await migrationStatus(sql);
      if (before.state === "newer") throw newerError(before);
      if (before.state === "older") {
        await prepareLedger(sql);
        await applyMigrations(drizzle(sql), { migrationsFolder: MIGRATIONS_FOLDER });
      }
      await applyReportComments(sql);
      return before.migrations.filter(({ appliedAt }) => appliedAt === null).map(({ tag }) => tag);
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** What is applied and what is not. Changes nothing; an empty database is "older". */
export async function migrationStatus(sql: Sql): Promise<MigrationStatus> {
  const journal = readJournal();
  const applied = await withStoreErrors("read which migrations are applied", () => findApplied(sql));
  const known = new Set(journal.map(({ when }) => when));
  const unknown = [...applied.keys()].filter((when) => !known.has(when)).length;
  const migrations = journal.map(({ tag, when }) => ({ tag, appliedAt: applied.get(when) ?? null }));
  const isOlder = migrations.some(({ appliedAt }) => appliedAt === null);
  return { state: unknown > 0 ? "newer" : isOlder ? "older" : "current", migrations, unknown };
}

/** The SQL that `migrate` would run, empty when there is none. */
export async function pendingSql(sql: Sql): Promise<string> {
  const { migrations } = await migrationStatus(sql);
  return migrations
    .filter(({ appliedAt }) => appliedAt === null)
    .map(({ tag }) => `-- ${tag}\n${readFileSync(`${MIGRATIONS_FOLDER}/${tag}.sql`, "utf8").trim()}\n`)
    .join("\n");
}

/** Throws SchemaVersionError unless the database has just this program's schema. */
export async function assertSchemaCurrent(sql: Sql): Promise<void> {
  const status = await migrationStatus(sql);
  if (status.state === "newer") throw newerError(status);
  if (status.state === "older") {
    const missing = status.migrations.filter(({ appliedAt }) => appliedAt === null);
    throw new SchemaVersionError(
      `could not use the database: its schema is older than this program, ${missing.length} of ${status.migrations.length} migrations are missing`,
      { hint: "run `docmirror migrate`" },
    );
  }
}

/** Throws StoreError unless the server is Postgres 15 or newer and the database is in UTF-8. Gives what it found out. */
export async function assertServerUsable(sql: Sql): Promise<ServerFacts> {
  const server = await readServerFacts(sql);
  if (server.number < OLDEST_SERVER * 10_000) {
    throw new StoreError(`could not use the server: it is Postgres ${server.version}`, {
      hint: `docmirror needs Postgres ${OLDEST_SERVER} or newer`,
    });
  }
  if (server.encoding !== "UTF8") {
    throw new StoreError(`could not use the database: its encoding is ${server.encoding}`, {
      hint: "create another one: `createdb --encoding=UTF8 --template=template0 NAME`",
    });
  }
  return server;
}

function readJournal(): JournalEntry[] {
  const text = readFileSync(`${MIGRATIONS_FOLDER}/meta/_journal.json`, "utf8");
  return (JSON.parse(text) as { entries: JournalEntry[] }).entries;
}

/** The migrator's own ledger holds the journal's `when` of each migration. Null text: applied, nobody knows when. */
async function findApplied(sql: Sql): Promise<Map<number, string>> {
  const [ledger] = await sql<{ exists: boolean; dated: boolean }[]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as exists,
           exists (select from pg_attribute
                   where attrelid = to_regclass('drizzle.__drizzle_migrations')
                     and attname = 'applied_at' and not attisdropped) as dated`;
  if (!ledger?.exists) return new Map();
  const rows = await sql<{ when: number; applied_at: string | null }[]>`
    select created_at as when, ${ledger.dated ? sql`applied_at` : sql`null`} as applied_at
    from drizzle.__drizzle_migrations`;
  return new Map(rows.map(({ when, applied_at }) => [when, applied_at ?? "unknown"]));
}

/** The ledger as the migrator would make it, and the time of application beside, which the migrator does not keep. */
async function prepareLedger(sql: Sql): Promise<void> {
  await sql`create schema if not exists drizzle`;
  await sql`create table if not exists drizzle.__drizzle_migrations
    (id serial primary key, hash text not null, created_at bigint)`;
  await sql`alter table drizzle.__drizzle_migrations add column if not exists applied_at timestamptz`;
  await sql`alter table drizzle.__drizzle_migrations alter column applied_at set default now()`;
}

async function lock(sql: Sql, signal: AbortSignal | undefined): Promise<void> {
  await abortable(sql`select pg_advisory_lock(${LOCK_KEY})`, signal);
}

function newerError(status: MigrationStatus): SchemaVersionError {
  return new SchemaVersionError(
    `could not use the database: its schema is newer than this program, which does not know ${status.unknown} of its migrations`,
    { hint: "upgrade docmirror to the version that made it" },
  );
}

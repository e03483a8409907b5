import { SchemaVersionError, StoreError } from "../errors.ts";
import { abortable } from "./abortable.ts";
import { type AnySql, connect, type Sql } from "./connect.ts";
import { type Migration, readMigrations } from "./migration-files.ts";
import { type AppliedMigration, findApplied, recordApplied } from "./migration-ledger.ts";
import { applyReportComments } from "./report-comments.ts";
import { readServerFacts, type ServerFacts } from "./server-facts.ts";
import { withStoreErrors } from "./store-errors.ts";
import { withTransaction } from "./transaction.ts";

/** Any number that no other program of this database uses: two migrations at once wait for each other. */
const LOCK_KEY = 7_305_110_624;

const OLDEST_SERVER = 15;

export interface MigrationEntry {
  tag: string;
  /** When it was applied, UTC, or "unknown"; null while it is to come. */
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

/**
 * Applies what is missing, all or nothing. Safe to repeat, and safe while another process does the same: it
 * waits. Gives the tags applied by this call. Throws StoreError, or SchemaVersionError for a newer database.
 */
export async function migrate(url: string, options: { signal?: AbortSignal } = {}): Promise<string[]> {
  const sql = connect(url, { applicationName: "docmirror migrate", max: 1 });
  try {
    return await withStoreErrors("bring the schema up to date", async () => {
      await assertServerUsable(sql);
      return await withTransaction(sql, async (tx) => {
        // Whoever waited must see what the one before has done.
        await tx`set transaction isolation level read committed`;
        // Of the transaction, not of the session: a pooler may give the session to others.
        await abortable(tx`select pg_advisory_xact_lock(${LOCK_KEY})`, options.signal);
        const known = readMigrations();
        const applied = await findApplied(tx, known);
        const status = statusOf(known, applied);
        if (status.state === "newer") throw newerError(status);
        const missing = findMissing(known, applied);
        for (const { statements } of missing) {
          for (const statement of statements) await tx.unsafe(statement);
        }
        await recordApplied(tx, applied, missing, known);
        await applyReportComments(tx);
        return missing.map(({ tag }) => tag);
      });
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** What is applied and what is not. Changes nothing; an empty database is "older". */
export async function migrationStatus(sql: AnySql): Promise<MigrationStatus> {
  const known = readMigrations();
  return statusOf(
    known,
    await withStoreErrors("read which migrations are applied", () => findApplied(sql, known)),
  );
}

/** The SQL that `migrate` would run, empty when there is none. */
export async function pendingSql(sql: AnySql): Promise<string> {
  const known = readMigrations();
  const applied = await withStoreErrors("read which migrations are applied", () => findApplied(sql, known));
  return findMissing(known, applied)
    .map(({ tag, statements }) => `-- ${tag}\n${statements.join("--> statement-breakpoint").trim()}\n`)
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

function statusOf(known: readonly Migration[], applied: readonly AppliedMigration[]): MigrationStatus {
  const migrations = known.map((migration) => {
    const entry = applied.find((one) => isSame(one, migration));
    return { tag: migration.tag, appliedAt: entry === undefined ? null : (entry.appliedAt ?? "unknown") };
  });
  const unknown = applied.filter((one) => !known.some((migration) => isSame(one, migration))).length;
  const isOlder = migrations.some(({ appliedAt }) => appliedAt === null);
  return { state: unknown > 0 ? "newer" : isOlder ? "older" : "current", migrations, unknown };
}

function findMissing(known: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  return known.filter((migration) => !applied.some((one) => isSame(one, migration)));
}

/** A file of the same name and another content is another migration: of a version that never was released, for example. */
function isSame(applied: AppliedMigration, { tag, hash }: Migration): boolean {
  return applied.tag === tag && applied.hash === hash;
}

function newerError(status: MigrationStatus): SchemaVersionError {
  return new SchemaVersionError(
    `could not use the database: its schema is newer than this program, which does not know ${status.unknown} of its migrations`,
    { hint: "upgrade docmirror to the version that made it" },
  );
}

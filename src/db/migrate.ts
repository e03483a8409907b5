import { SchemaVersionError, StoreError } from "../errors.ts";
import { abortable } from "./abortable.ts";
import { type AnySql, connect, type Sql } from "./connect.ts";
import {
  applyDefinitions,
  type DefinitionChanges,
  type Definitions,
  definitionSql,
  findDefinitionChanges,
} from "./definitions.ts";
import { type Migration, readMigrations } from "./migration-files.ts";
import { type AppliedMigration, findApplied, recordApplied } from "./migration-ledger.ts";
import { applyReportComments } from "./report-comments.ts";
import { readServerFacts, type ServerFacts } from "./server-facts.ts";
import { withStoreErrors } from "./store-errors.ts";
import { withTransaction } from "./transaction.ts";

/**
 * Any number that no other program of this database uses. Two migrations at the same time wait for each
 * other.
 */
const LOCK_KEY = 7_305_110_624;

const OLDEST_SERVER = 15;

export interface MigrationEntry {
  tag: string;
  /** When it was applied, in UTC, or "unknown". Null while it is pending. */
  appliedAt: string | null;
}

export interface MigrationStatus {
  /**
   * The state of the database compared with this program. "newer": a later program has migrated or defined
   * something.
   */
  state: "current" | "older" | "newer";
  /** The migrations of the program, in order. */
  migrations: MigrationEntry[];
  /** Migrations in the database that this program does not know. */
  unknown: number;
  /** Views and functions of the reports that the program defines differently, or does not define. */
  outdated: string[];
}

export interface MigrationResult {
  /** The tags of the migrations. */
  applied: string[];
  /** The views and functions of the reports that were created, re-created or dropped. */
  redefined: string[];
}

/**
 * Applies the missing migrations and re-creates the definitions that differ, all in one transaction. Safe to
 * repeat, and safe while another process does the same: it waits. Returns what this call did. Throws
 * StoreError, or SchemaVersionError for a newer database.
 */
export async function migrate(
  url: string,
  definitions: Definitions,
  options: { signal?: AbortSignal } = {},
): Promise<MigrationResult> {
  const sql = connect(url, { applicationName: "docmirror migrate", max: 1 });
  try {
    return await withStoreErrors("bring the schema up to date", async () => {
      await assertServerUsable(sql);
      return await withTransaction(sql, async (tx) => {
        // A process that waited must see what the one before has done.
        await tx`set transaction isolation level read committed`;
        // A lock of the transaction, not of the session: a pooler may give the session to others.
        await abortable(tx`select pg_advisory_xact_lock(${LOCK_KEY})`, options.signal);
        const known = readMigrations();
        const applied = await findApplied(tx, known);
        const status = statusOf(known, applied, await findDefinitionChanges(tx, definitions));
        if (status.state === "newer") throw newerError(status);
        const missing = findMissing(known, applied);
        for (const { statements } of missing) {
          for (const statement of statements) await tx.unsafe(statement);
        }
        await recordApplied(tx, applied, missing, known);
        // Read again: a migration that had to drop definitions has deleted their rows.
        const changes = await findDefinitionChanges(tx, definitions);
        await applyDefinitions(tx, changes, definitions.version);
        await applyReportComments(tx);
        return { applied: missing.map(({ tag }) => tag), redefined: namesOf(changes) };
      });
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Which migrations are applied. Changes nothing. An empty database is "older". */
export async function migrationStatus(sql: AnySql, definitions: Definitions): Promise<MigrationStatus> {
  const known = readMigrations();
  return withStoreErrors("read which migrations are applied", async () =>
    statusOf(known, await findApplied(sql, known), await findDefinitionChanges(sql, definitions)),
  );
}

/** The SQL that `migrate` would run. Empty when nothing is pending. */
export async function pendingSql(sql: AnySql, definitions: Definitions): Promise<string> {
  const known = readMigrations();
  return withStoreErrors("read which migrations are applied", async () => {
    const missing = findMissing(known, await findApplied(sql, known));
    return [
      ...missing.map(
        ({ tag, statements }) => `-- ${tag}\n${statements.join("--> statement-breakpoint").trim()}\n`,
      ),
      await definitionSql(sql, await findDefinitionChanges(sql, definitions)),
    ]
      .filter((text) => text !== "")
      .join("\n");
  });
}

/** Throws SchemaVersionError unless the schema of the database is the schema of this program. */
export async function assertSchemaCurrent(sql: Sql, definitions: Definitions): Promise<void> {
  const status = await migrationStatus(sql, definitions);
  if (status.state === "newer") throw newerError(status);
  if (status.state === "older") {
    throw new SchemaVersionError(
      `could not use the database: its schema is older than this program, ${whatIsMissing(status)}`,
      { hint: "run `docmirror migrate`" },
    );
  }
}

/** Describes the missing parts of an older schema, such as "2 of 9 migrations are missing". */
export function whatIsMissing({ migrations, outdated }: MigrationStatus): string {
  const missing = migrations.filter(({ appliedAt }) => appliedAt === null).length;
  return missing > 0
    ? `${missing} of ${migrations.length} migrations are missing`
    : `it lacks the new definition of ${listOrCount(outdated)}`;
}

/** Three names at most; more are counted. */
export function listOrCount(names: readonly string[]): string {
  return names.length > 3 ? `${names.length} views and functions` : names.join(", ");
}

/**
 * Throws StoreError unless the server is Postgres 15 or newer and the database uses UTF-8. Returns the facts
 * it read.
 */
export async function assertServerUsable(sql: Sql): Promise<ServerFacts> {
  const server = await readServerFacts(sql);
  if (server.number < OLDEST_SERVER * 10_000) {
    throw new StoreError(`could not use the server: it is Postgres ${server.version}`, {
      hint: `docmirror needs Postgres ${OLDEST_SERVER} or newer`,
    });
  }
  if (server.encoding !== "UTF8") {
    throw new StoreError(`could not use the database: its encoding is ${server.encoding}`, {
      hint: "create another database: `createdb --encoding=UTF8 --template=template0 NAME`",
    });
  }
  return server;
}

function statusOf(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
  changes: DefinitionChanges,
): MigrationStatus {
  const migrations = known.map((migration) => {
    const entry = applied.find((one) => isSame(one, migration));
    return { tag: migration.tag, appliedAt: entry === undefined ? null : (entry.appliedAt ?? "unknown") };
  });
  const unknown = applied.filter((one) => !known.some((migration) => isSame(one, migration))).length;
  const outdated = namesOf(changes);
  const isNewer = unknown > 0 || changes.newer.length > 0;
  const isOlder = migrations.some(({ appliedAt }) => appliedAt === null) || outdated.length > 0;
  return { state: isNewer ? "newer" : isOlder ? "older" : "current", migrations, unknown, outdated };
}

function namesOf({ changed, gone }: DefinitionChanges): string[] {
  return [...changed.map(({ name }) => name), ...gone];
}

function findMissing(known: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  return known.filter((migration) => !applied.some((one) => isSame(one, migration)));
}

/**
 * A file with the same name and another content is another migration, such as one of a version that was never
 * released.
 */
function isSame(applied: AppliedMigration, { tag, hash }: Migration): boolean {
  return applied.tag === tag && applied.hash === hash;
}

function newerError({ unknown, outdated }: MigrationStatus): SchemaVersionError {
  const what =
    unknown > 0
      ? `which does not know ${unknown} of its migrations`
      : `a later version defined ${listOrCount(outdated)}`;
  return new SchemaVersionError(
    `could not use the database: its schema is newer than this program, ${what}`,
    { hint: "upgrade docmirror to the version that made it" },
  );
}

import { LockedError, SchemaVersionError, StoreError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { connect } from "../connection/connect.ts";
import {
  type AnySql,
  abortable,
  oneRow,
  runText,
  type Sql,
  statement,
  type TransactionSql,
  withTransaction,
} from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";
import { tryReserve } from "../ledger/leases.ts";
import {
  applyDefinitions,
  compareDefinitions,
  type DefinitionChanges,
  type Definitions,
  definitionSql,
} from "./definitions.ts";
import {
  type AppliedMigration,
  type Migration,
  readMigrations,
  readSchema,
  recordApplied,
  type StoredSchema,
  takeMigrationTurn,
} from "./migration-ledger.ts";
import { applyReportComments, type Dictionary } from "./report-comments.ts";
import { assertMayMigrate, lookAtCatalog } from "./rights.ts";
import { LOCK_WAIT_MS, type ShortLockOptions, withShortLocks } from "./short-locks.ts";

const LACKING_COLUMNS = statement("lacking_columns", import.meta.url);
const SERVER_FACTS = statement<ServerFacts>("server_facts", import.meta.url);

const OLDEST_SERVER = 15;

/** The schema of a database, compared with that of this program. */
export interface MigrationStatus {
  /** "newer": a later program has migrated or defined something. An empty database is "older". */
  state: "current" | "older" | "newer";
  /** It is current, or newer only by additive migrations and by reports that still have every column that this program knows. */
  usable: boolean;
  /** Those of the program, in order. `appliedAt` is in UTC, null while pending. `additive`: an older program may go on after it. */
  migrations: { tag: string; appliedAt: string | null; additive: boolean }[];
  /** Those of the program that the database lacks. */
  missing: number;
  /** Migrations in the database that this program does not know. */
  unknown: number;
  /** Views and functions of the reports that the program defines differently, or does not define. */
  outdated: string[];
  /** "the version that made it", with its number where a newer one has defined reports. */
  maker: string;
  /** See `CatalogLook`. */
  temporaryGrant: string | null;
}

export interface MigrationResult {
  applied: string[];
  /** The views and functions of the reports that were created, re-created or dropped. */
  redefined: string[];
  /** The schema is a later program's, which this one may use. Nothing was done then. */
  newer: boolean;
}

export interface MigrateOptions extends Partial<ShortLockOptions> {
  log?: Logger;
  signal?: AbortSignal | undefined;
}

/**
 * Applies the missing migrations and re-creates the definitions that differ, all in one transaction. Safe to
 * repeat, and safe while another process does the same: it waits. Also safe while an older program works: it
 * waits three seconds at most for a lock, so that others do not queue behind it for long, and tries again for
 * five minutes. A migration that is not additive waits for the end of a run too. Returns what this call did.
 * Throws StoreError, LockedError while a run is under way, or SchemaVersionError for a newer database.
 */
export async function migrate(
  url: string,
  definitions: Definitions,
  { log, signal, ...patience }: MigrateOptions = {},
): Promise<MigrationResult> {
  const { lockWaitMs = LOCK_WAIT_MS } = patience;
  // Within a wait, so that an error can name whom it waited for.
  const silentMs = lockWaitMs / 2;
  const sql = connect(url, { applicationName: "docmirror migrate", max: 1, log, silentMs });
  const attempt = () => withTransaction(sql, (tx) => migrateIn(tx, definitions, lockWaitMs, signal));
  try {
    return await withStoreErrors("bring the schema up to date", async () => {
      await assertServerUsable(sql);
      return await withShortLocks(attempt, { ...patience, log, signal });
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Waits for the turn of this process, for as long as the transaction lasts. */
async function takeTurn(tx: TransactionSql, signal: AbortSignal | undefined, lockWaitMs = LOCK_WAIT_MS) {
  // A process that waited must see what the one before has done.
  await tx`set transaction isolation level read committed`;
  // A session that waits for a table keeps all others from it.
  await tx`select set_config('lock_timeout', ${String(lockWaitMs)}, true)`;
  await takeMigrationTurn(tx, signal);
}

/** Re-creates the definitions that differ, with their comments. Returns the names of those. */
async function redefine(tx: TransactionSql, definitions: Definitions): Promise<string[]> {
  const changes = compareDefinitions((await readSchema(tx)).defined, definitions);
  await applyDefinitions(tx, changes, definitions.version);
  await applyReportComments(tx, definitions.dictionary);
  await applyReportComments(tx, definitions.people, "report_people");
  return namesOf(changes);
}

async function migrateIn(
  tx: TransactionSql,
  definitions: Definitions,
  lockWaitMs: number,
  signal: AbortSignal | undefined,
): Promise<MigrationResult> {
  await takeTurn(tx, signal, lockWaitMs);
  const known = readMigrations();
  const schema = await readSchema(tx);
  const { applied } = schema;
  const status = await judge(tx, schema, definitions);
  if (status.state === "newer") {
    if (!status.usable) throw newerError(status);
    return { applied: [], redefined: [], newer: true };
  }
  if (status.state === "older" && applied.length > 0) await assertMayMigrate(tx);
  const missing = findMissing(known, applied);
  if (applied.length > 0 && missing.some(({ additive }) => !additive) && !(await tryReserve(tx, "run"))) {
    throw new LockedError("a run is under way, and the missing migrations are not for an older program", {
      hint: "stop the worker, or wait until the run has ended, then run `docmirror migrate` again",
    });
  }
  await applyMigrations(tx, missing, signal);
  // The differences are read again: a migration that had to drop definitions has deleted their rows.
  const redefined = await redefine(tx, definitions);
  return { applied: missing.map(({ tag }) => tag), redefined, newer: false };
}

/**
 * Makes the schema as it was after the first `under` migrations, has it filled, and brings it up to date. So later migrations move
 * old data as in a mirror that was never away. Only in an empty database, or one with exactly these migrations.
 * Throws SchemaVersionError.
 */
export async function migrateAround(
  tx: TransactionSql,
  definitions: Definitions,
  under: number,
  fill: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await takeTurn(tx, signal);
  const known = readMigrations();
  const before = known.slice(0, under);
  const { applied } = await readSchema(tx);
  const missing = findMissing(before, applied);
  if (applied.length > 0 && (missing.length > 0 || applied.length > under)) {
    throw new SchemaVersionError("the schema there is not the one that the backup was made of", {
      hint: "name a new data folder (--data-dir) or a new database; the schema is made there and brought up to date",
    });
  }
  await applyMigrations(tx, missing, signal);
  await fill();
  await applyMigrations(tx, known.slice(under), signal);
  await redefine(tx, definitions);
}

async function applyMigrations(
  tx: TransactionSql,
  missing: readonly Migration[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const { statements } of missing) {
    // Text of the files in `migrations`.
    for (const statement of statements) await abortable(runText(tx, statement), signal);
  }
  await recordApplied(tx, missing);
}

/** Changes nothing. Throws StoreError. */
export async function migrationStatus(sql: AnySql, definitions: Definitions): Promise<MigrationStatus> {
  return withStoreErrors("read which migrations are applied", async () => {
    const { isMade, temporaryGrant } = await lookAtCatalog(sql);
    return { ...(await judge(sql, await readSchema(sql, isMade), definitions)), temporaryGrant };
  });
}

/** The SQL that `migrate` would run. Empty when nothing is pending. */
export async function pendingSql(sql: AnySql, definitions: Definitions): Promise<string> {
  return withStoreErrors("read which migrations are applied", async () => {
    const { applied, defined } = await readSchema(sql);
    const migrations = findMissing(readMigrations(), applied).map(
      ({ tag, statements }) => `-- ${tag}\n${statements.join("--> statement-breakpoint").trim()}\n`,
    );
    const redefined = await definitionSql(sql, compareDefinitions(defined, definitions));
    return [...migrations, redefined].filter((text) => text !== "").join("\n");
  });
}

/** Throws SchemaVersionError unless the schema is exactly that of this program: a later one may have more tables. */
export async function assertCurrent(sql: AnySql, definitions: Definitions): Promise<void> {
  const status = assertUsable(await migrationStatus(sql, definitions));
  if (status.state === "newer") throw newerError(status);
}

/** Throws SchemaVersionError unless this program may use a database in this state. */
export function assertUsable(status: MigrationStatus): MigrationStatus {
  if (status.usable) return status;
  if (status.state === "newer") throw newerError(status);
  throw new SchemaVersionError(
    `could not use the database: its schema is older than this program, ${whatIsMissing(status)}`,
    { hint: "run `docmirror migrate`" },
  );
}

/** True where a later program defined the reports of a mirror. Their stored answers are left to it and its formulas. */
export async function areReportsLater(sql: AnySql, definitions: Definitions): Promise<boolean> {
  const { state, outdated } = await judge(sql, await readSchema(sql, true), definitions);
  return state === "newer" && outdated.length > 0;
}

/** True where the database has nothing of docmirror. */
export function isUnmade({ migrations, missing, unknown }: MigrationStatus): boolean {
  return unknown === 0 && missing === migrations.length;
}

/** Describes the missing parts of an older schema, such as "2 of 9 migrations are missing". */
export function whatIsMissing({ migrations, missing, outdated }: MigrationStatus): string {
  return missing > 0
    ? `${missing} of ${migrations.length} migrations are missing`
    : `it lacks the new definition of ${listOrCount(outdated)}`;
}

/** Three names at most; more are counted. */
export function listOrCount(names: readonly string[]): string {
  return names.length > 3 ? `${names.length} views and functions` : names.join(", ");
}

export interface ServerFacts {
  /** The version as the server writes it, such as "18.1". */
  version: string;
  number: number;
  encoding: string;
  user: string;
  /** True on a standby, and where the server, the database or the role makes sessions read-only. */
  isReadOnly: boolean;
}

/** Facts about server and role. Throws StoreError unless it is Postgres 15 or newer with UTF-8. */
export async function assertServerUsable(sql: Sql): Promise<ServerFacts> {
  const server = await withStoreErrors("connect to the database", () => oneRow(SERVER_FACTS(sql)));
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

/** True where the database lacks columns of `report` that this program reads. */
async function isLackingColumns(sql: AnySql, dictionary: Dictionary): Promise<boolean> {
  const known = Object.entries(dictionary).flatMap(([relation, { columns }]) =>
    Object.keys(columns).map((column) => ({ relation, column })),
  );
  const lacking = await LACKING_COLUMNS(sql, { known: JSON.stringify(known) });
  return lacking.length > 0;
}

async function judge(
  sql: AnySql,
  { applied, defined }: StoredSchema,
  definitions: Definitions,
): Promise<Omit<MigrationStatus, "temporaryGrant">> {
  const known = readMigrations();
  const changes = compareDefinitions(defined, definitions);
  const migrations = known.map((migration) => {
    const entry = applied.find((one) => isSame(one, migration));
    return { tag: migration.tag, appliedAt: entry?.appliedAt ?? null, additive: migration.additive };
  });
  const unknown = applied.filter((one) => !known.some((migration) => isSame(one, migration)));
  const outdated = namesOf(changes);
  const missing = migrations.filter(({ appliedAt }) => appliedAt === null).length;
  const isNewer = unknown.length > 0 || changes.newer.length > 0;
  const isOlder = missing > 0 || outdated.length > 0;
  const isOnlyMore = async () =>
    missing === 0 &&
    unknown.every(({ additive }) => additive) &&
    !(outdated.length > 0 && (await isLackingColumns(sql, definitions.dictionary)));
  return {
    state: isNewer ? "newer" : isOlder ? "older" : "current",
    usable: isNewer ? await isOnlyMore() : !isOlder,
    migrations,
    missing,
    unknown: unknown.length,
    outdated,
    maker: `the version that made it${changes.latest === null ? "" : `, ${changes.latest}`}`,
  };
}

function namesOf({ changed, gone }: DefinitionChanges): string[] {
  return [...changed.map(({ name }) => name), ...gone];
}

function findMissing(known: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  return known.filter((migration) => !applied.some((one) => isSame(one, migration)));
}

/** A file with the same name and another content is another migration, as of a version that was never released. */
function isSame(applied: AppliedMigration, { tag, hash }: Migration): boolean {
  return applied.tag === tag && applied.hash === hash;
}

function newerError({
  unknown,
  outdated,
  maker,
}: Pick<MigrationStatus, "unknown" | "outdated" | "maker">): SchemaVersionError {
  const what =
    unknown > 0
      ? `which does not know ${unknown} of its migrations`
      : `a later version defined ${listOrCount(outdated)}`;
  return new SchemaVersionError(
    `could not use the database: its schema is newer than this program, ${what}`,
    { hint: `upgrade docmirror to ${maker}` },
  );
}

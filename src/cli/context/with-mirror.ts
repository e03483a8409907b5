import { relative } from "node:path";
import type { Config } from "../../base/config.ts";
import { EXIT, StoreError } from "../../base/errors.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { findReaderUrl } from "../../report/reader-login.ts";
import { describeDatabase, withSql } from "../../store/connection/connect.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { hasEmbedded, type OpenDatabase, openDatabase } from "../../store/embedded/open-embedded.ts";
import { type Connections, createConnections } from "../../store/ledger/connections.ts";
import { findService, serviceUrl } from "../../store/ledger/mirrored-service.ts";
import { assertMirror, noMirrorError } from "../../store/migrate/prepare.ts";
import type { CommandContext } from "./run-command.ts";

export type MirrorSettings = Pick<Config, "databaseUrl" | "dataDir">;

/** Where the settings say that the mirror is, for messages: a folder, or a database without its password. */
export function mirrorPlace({ databaseUrl, dataDir }: MirrorSettings): string {
  if (databaseUrl !== null) return `the database ${describeDatabase(databaseUrl)}`;
  const path = showPath(dataDir);
  return path.startsWith("/") ? path : `./${path}`;
}

/** An absolute path as people write it: relative where it is below the working directory. */
export function showPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}

/** True where there is certainly no mirror. Starts nothing. Throws StoreError where the folder cannot be read. */
export function isMirrorAbsent({ databaseUrl, dataDir }: MirrorSettings): boolean {
  return databaseUrl === null && !hasEmbedded(dataDir);
}

/** Throws SchemaVersionError where there is no embedded Postgres yet, because opening it would make one. */
export function assertMirrorPlace(settings: MirrorSettings): void {
  if (isMirrorAbsent(settings)) throw noMirrorError(mirrorPlace(settings));
}

/** Opens the database of the settings, and always closes it. Errors of the embedded Postgres also name its log file. */
export async function withDatabase<T>(
  { config, log, signal }: Pick<CommandContext, "config" | "log" | "signal">,
  fn: (database: OpenDatabase) => Promise<T>,
): Promise<T> {
  const database = await openDatabase({ ...config, log, signal });
  try {
    return await fn(database);
  } catch (error) {
    throw withServerLog(error, database);
  } finally {
    await database.close();
  }
}

/** The same with the connections that all work of the command shares. */
export function withConnections<T>(
  context: CommandContext,
  fn: (database: OpenDatabase, connections: Connections) => Promise<T>,
): Promise<T> {
  return withDatabase(context, async (database) => {
    const { command, log } = context;
    const connections = createConnections(database.url, { program: `docmirror ${command}`, log });
    try {
      return await fn(database, connections);
    } finally {
      await connections.end();
    }
  });
}

function withServerLog(error: unknown, { embedded }: OpenDatabase): unknown {
  if (embedded === null || !(error instanceof StoreError) || error.exitCode !== EXIT.database) return error;
  const log = `the embedded Postgres writes its log to ${embedded.logFile}`;
  const { message, sqlstate, cause, hint } = error;
  return new StoreError(message, { sqlstate, cause, hint: hint ? `${hint}; ${log}` : log });
}

/**
 * Opens the mirror that the settings name for a command that works on it; never makes one. For a command that only reads `sql` is, at an
 * embedded Postgres, one connection of a reader. All others are the owner's. Throws SchemaVersionError where there is no mirror, or one
 * of another version, and StoreError for errors of the database.
 */
export async function withMirror<T>(
  context: CommandContext,
  fn: (sql: Sql, database: OpenDatabase, connections: Connections) => Promise<T>,
  does: "reads" | "writes" = "writes",
): Promise<T> {
  const { command, config, log } = context;
  assertMirrorPlace(config);
  return withConnections(context, async (database, connections) => {
    const use = async (sql: Sql) => {
      await assertMirror(sql, readDefinitions(), mirrorPlace(config));
      return withStoreErrors(`read the mirror for \`docmirror ${command}\``, async () => {
        await warnOfOther(context, sql);
        return fn(sql, database, connections);
      });
    };
    const url = does === "reads" ? await readerUrlOf(database) : database.url;
    if (url === database.url) return use(connections.sql);
    return withSql(url, { applicationName: `docmirror ${command}`, max: 1, log }, use);
  });
}

/** A command that asks the mirror alone works all the same: it says that the settings name another service. */
export async function warnOfOther({ config: { baseUrl }, log }: CommandContext, sql: Sql): Promise<void> {
  if (baseUrl === null) return;
  // A role that may not look there does not hear of it.
  const service = await findService(sql).catch(() => null);
  if (service === null || service.baseUrl === serviceUrl(baseUrl)) return;
  const base_url = serviceUrl(baseUrl);
  log.warn(
    { mirror: service.baseUrl, base_url },
    "this mirror is of another service than DOCMIRROR_BASE_URL names",
  );
}

/** Where a command that only reads logs in: as the owner where the mirror is in a Postgres of the user's own. */
export async function readerUrlOf({ url, embedded }: OpenDatabase): Promise<string> {
  return embedded === null ? url : ((await findReaderUrl(url, "docmirror_serve")) ?? url);
}

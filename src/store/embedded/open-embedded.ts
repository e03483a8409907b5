import { statSync } from "node:fs";
import { access, chmod, chown, constants, readdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Config } from "../../base/config.ts";
import type { Logger } from "../../base/log.ts";
import { connect, withSql } from "../connection/connect.ts";
import { describeDatabase } from "../connection/database-url.ts";
import type { Sql } from "../connection/sql.ts";
import { sqlstateOf, withStoreErrors } from "../connection/store-errors.ts";
import { assertOwner, findServerAccount, type ServerAccount } from "./account.ts";
import { createPaths, type EmbeddedPaths, findBinaries, nativeFolder, toDataDirError } from "./binaries.ts";
import { assertRoom, ensureCluster, ensurePassword, SUPERUSER } from "./cluster.ts";
import { withLockFile } from "./lock-file.ts";
import {
  awaitExit,
  awaitRunning,
  findServer,
  type RunningServer,
  startPostgres,
  stopServer,
} from "./server.ts";

/*
 * The embedded Postgres has three states: no cluster, stopped, running. Every move between them happens under
 * the lock file of the data directory, so commands that start together never see half of a move:
 *
 *   open:  no cluster -> stopped (initdb) -> running (start), or joins the server that already runs;
 *   close: running -> stopped, when no other client is connected.
 *
 * Each user keeps one connection open from open to close. These connections count the users: when a command
 * is killed, the server sees its connection break, so nothing has to be cleaned up.
 */

interface EmbeddedOptions {
  dataDir: string;
  log: Logger;
  signal?: AbortSignal | undefined;
  /** Server settings. They only apply when this call starts the server. Example: `{ fsync: "off" }`. */
  settings?: Record<string, string>;
}

/** An embedded Postgres that this process has joined. */
export interface EmbeddedServer {
  url: string;
  port: number;
  logFile: string;
  /** False when the server was already running. */
  startedHere: boolean;
  /** Stops the server unless another client is connected. Close your own pools first. May be called twice. */
  close(): Promise<void>;
}

const DATABASE = "docmirror";
/** Other sessions may stay in the server's list for so long after their clients have left. */
const LINGER_MS = 400;

/** True where there is an embedded Postgres, running or not. Throws StoreError where that cannot be read. */
export function hasEmbedded(dataDir: string): boolean {
  try {
    return statSync(resolve(dataDir, "postgres"), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw toDataDirError(error, dataDir);
  }
}

/** Tries what the first start needs of the data folder, or of the one in which it will be made. Makes nothing. Throws StoreError. */
export async function assertCreatable(dataDir: string): Promise<void> {
  let place = resolve(dataDir);
  try {
    while (statSync(place, { throwIfNoEntry: false }) === undefined) place = dirname(place);
    await access(`${place}/.`, constants.W_OK | constants.X_OK);
    nativeFolder();
    await assertRoom(place);
  } catch (error) {
    throw toDataDirError(error, place);
  }
}

/** The file that holds the password of the only role of the embedded Postgres, and nothing else. */
export function embeddedPasswordFile(dataDir: string): string {
  return resolve(dataDir, "password");
}

/**
 * Joins the embedded Postgres of this data directory. Creates and starts it if needed. It listens on loopback only, and its
 * password is in `<dataDir>/password`. Throws StoreError. Rejects with the signal's reason when aborted.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { log, signal } = options;
  const paths = createPaths(options.dataDir);
  try {
    return await withLockFile(paths.lock, signal, async () => {
      const running = await awaitRunning(paths, signal, log);
      const joined = running && (await join(paths, running, signal));
      const startedHere = joined === null;
      const { port, url, presence } = joined ?? (await enter(paths, await start(paths, options)));
      log.debug({ port, log_file: paths.log, started_here: startedHere }, "embedded Postgres is up");
      let closed: Promise<void> | undefined;
      return {
        url,
        port,
        logFile: paths.log,
        startedHere,
        close: () => {
          closed ??= leave(paths, presence, log);
          return closed;
        },
      };
    });
  } catch (error) {
    throw toDataDirError(error, paths.dataDir);
  }
}

/** Returns null when the server began to stop in the meantime. It has stopped then. */
async function join(paths: EmbeddedPaths, server: RunningServer, signal: AbortSignal | undefined) {
  try {
    return await enter(paths, server);
  } catch (error) {
    if (sqlstateOf(error) !== "57P03") throw error;
    await awaitExit(paths, server.pid, signal);
    return null;
  }
}

async function enter(paths: EmbeddedPaths, { port }: RunningServer) {
  const url = `postgres://${SUPERUSER}:${await ensurePassword(paths)}@127.0.0.1:${port}/${DATABASE}`;
  return { port, url, presence: await openPresence(url) };
}

async function start(paths: EmbeddedPaths, options: EmbeddedOptions): Promise<RunningServer> {
  const { log, signal, settings = {} } = options;
  const account = findServerAccount();
  // Only root could read the version of another user's data.
  if (process.geteuid?.() !== 0) assertOwner(paths, account);
  await closeToOthers(paths, account, log);
  const binaries = await findBinaries(account);
  await ensureCluster({ paths, binaries, account, durable: settings.fsync !== "off", signal });
  assertOwner(paths, account);
  return await startPostgres({ paths, binaries, account, log, signal, settings });
}

/** Opens the connection that marks the server as in use, and creates the database if it is missing. */
async function openPresence(url: string): Promise<Sql> {
  const open = () => connect(url, { applicationName: "docmirror presence", max: 1 });
  return await withStoreErrors("connect to the embedded Postgres", async () => {
    const presence = open();
    try {
      await presence`select 1`;
      return presence;
    } catch (error) {
      await presence.end({ timeout: 1 });
      if (sqlstateOf(error) !== "3D000") throw error;
    }
    const create = (sql: Sql) => sql`create database ${sql(DATABASE)}`;
    const maintenanceUrl = Object.assign(new URL(url), { pathname: "/postgres" }).href;
    await withSql(maintenanceUrl, { applicationName: "docmirror", max: 1 }, create);
    const second = open();
    await second`select 1`;
    return second;
  });
}

async function leave(paths: EmbeddedPaths, presence: Sql, log: Logger): Promise<void> {
  try {
    await withLockFile(paths.lock, undefined, async () => {
      const server = await findServer(paths);
      if (server === null) return;
      if (await isUsedByOthers(presence)) return;
      await presence.end({ timeout: 1 });
      await stopServer(paths, server);
      log.debug({ port: server.port }, "embedded Postgres stopped");
    });
  } finally {
    await presence.end({ timeout: 1 });
  }
}

async function isUsedByOthers(presence: Sql): Promise<boolean> {
  const giveUpAt = Date.now() + LINGER_MS;
  for (;;) {
    try {
      const others = await presence`
        select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
      if (others.count === 0) return false;
    } catch {
      // The server does not answer: it crashed or is being stopped. The next user starts it again.
      return true;
    }
    if (Date.now() > giveUpAt) return true;
    await presence`select pg_sleep(0.05)`;
  }
}

export interface OpenDatabase {
  url: string;
  /** The URL with its password masked, for messages. */
  describe: string;
  embedded: Pick<EmbeddedServer, "port" | "logFile" | "startedHere"> | null;
  /** Leaves the embedded Postgres, which stops when no other process uses it. May be called twice. */
  close(): Promise<void>;
}

/** Starts the embedded database where no other is set. Does not migrate. Throws StoreError or ConfigError. */
export async function openDatabase(
  options: Pick<Config, "databaseUrl" | "dataDir"> & Pick<EmbeddedOptions, "log" | "signal">,
): Promise<OpenDatabase> {
  const { databaseUrl, dataDir, log, signal } = options;
  if (databaseUrl !== null) {
    const describe = describeDatabase(databaseUrl);
    return { url: databaseUrl, describe, embedded: null, close: async () => {} };
  }
  const { url, port, logFile, startedHere, close } = await openEmbedded({ dataDir, log, signal });
  return { url, describe: describeDatabase(url), embedded: { port, logFile, startedHere }, close };
}

/** The files that docmirror keeps in a data directory. */
const OURS = /^(?:postgres(?:\.log|-unfinished-\d+)?|password|port|lock(?:\.[0-9a-f]+)?)$/;
const STICKY = 0o1000;

/**
 * Makes the data directory, its log and its password private to the user who runs docmirror. A folder that also holds other
 * files, or belongs to another user, keeps its permissions: docmirror shares it, and the secret files in it are private themselves.
 */
async function closeToOthers(paths: EmbeddedPaths, account: ServerAccount, log: Logger) {
  const me = process.geteuid?.();
  const isMine = async (path: string) => (await stat(path).catch(() => null))?.uid === me;
  for (const file of [paths.password, paths.log]) if (await isMine(file)) await chmod(file, 0o600);
  if (!(await isMine(paths.dataDir))) return;
  const { mode } = await stat(paths.dataDir);
  const isShared = (mode & STICKY) !== 0 || (await readdir(paths.dataDir)).some((name) => !OURS.test(name));
  if (isShared) {
    log.debug({ data_dir: paths.dataDir }, "the data directory holds other files, so its permissions stay");
    return;
  }
  if (account.spawnAs.gid === undefined || process.platform === "linux") await chmod(paths.dataDir, 0o700);
  else {
    // Elsewhere a descriptor does not lead through a private folder: the group may pass, not list it.
    await chown(paths.dataDir, me ?? 0, account.spawnAs.gid);
    await chmod(paths.dataDir, 0o710);
  }
}

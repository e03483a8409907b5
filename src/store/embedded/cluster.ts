import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFile, chown, mkdir, readdir, readFile, rename, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { StoreError } from "../../base/errors.ts";
import type { ServerAccount } from "./account.ts";
import type { Binaries, EmbeddedPaths } from "./binaries.ts";

export const SUPERUSER = "docmirror";

const NEEDED_MB = 120;
const UNFINISHED = "postgres-unfinished-";

const SETTINGS = `
# Written once by docmirror; change it as you like.
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 50
shared_buffers = 128MB
max_wal_size = 1GB
checkpoint_timeout = 15min
# Nothing is replicated, so a load can write less to the log.
wal_level = minimal
max_wal_senders = 0
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] %q%a '
`;

export interface ClusterOptions {
  paths: EmbeddedPaths;
  binaries: Binaries;
  account: ServerAccount;
  /** The new files must survive a power cut. */
  durable: boolean;
  signal: AbortSignal | undefined;
}

/**
 * Creates the cluster if there is none. It is made in a folder with another name, which is renamed at the
 * end, so a half-made cluster is never used. Call it under the lock. Throws StoreError.
 */
export async function ensureCluster(options: ClusterOptions): Promise<void> {
  const { paths, binaries, signal } = options;
  for (const name of await readdir(paths.dataDir)) {
    if (name.startsWith(UNFINISHED)) await removeStage(join(paths.dataDir, name), signal);
  }
  const file = await readFile(join(paths.cluster, "PG_VERSION"), "utf8").catch(() => undefined);
  const version = file?.trim();
  if (version === binaries.majorVersion) return;
  if (version !== undefined) {
    const hint =
      "run `docmirror backup` with the older docmirror, then `docmirror restore` with this one and a new DOCMIRROR_DATA_DIR";
    const both = `data of Postgres ${version}, but this is Postgres ${binaries.majorVersion}`;
    throw new StoreError(`could not start the embedded Postgres: ${paths.cluster} holds ${both}`, { hint });
  }
  await assertRoom(paths.dataDir);
  await createCluster(options);
}

async function createCluster(options: ClusterOptions): Promise<void> {
  const { paths, account, signal } = options;
  const password = await ensurePassword(paths);
  const stage = `${UNFINISHED}${process.pid}`;
  const folder = join(paths.dataDir, stage);
  const cluster = join(folder, "cluster");
  const { uid, gid } = account.spawnAs;
  const give = async (path: string) => {
    if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
  };
  await mkdir(folder, { mode: 0o700 });
  await give(folder);
  await writeFile(join(folder, "password"), `${password}\n`, { mode: 0o600 });
  await give(join(folder, "password"));
  const seen = paths.seenByServer(account, stage);
  const args = [
    `--pgdata=${seen.path}/cluster`,
    `--username=${SUPERUSER}`,
    `--pwfile=${seen.path}/password`,
    "--auth=scram-sha-256",
    // The built-in C.UTF-8 of the server: it is the same on every system, and no locale has to be installed.
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
    ...(options.durable ? [] : ["--no-sync"]),
  ];
  const said = await runInitdb(options, args, seen.descriptor);
  seen.close();
  if (said !== null) {
    await removeStage(folder, signal);
    signal?.throwIfAborted();
    await assertRoom(paths.dataDir);
    const isNameless = /could not look up effective user ID/.test(said);
    const words = said.replaceAll(seen.path, folder);
    throw new StoreError(`could not create the embedded database in ${paths.dataDir}: ${words}`, {
      hint: isNameless
        ? "Postgres needs an account with a name: run as a user of /etc/passwd, or set DATABASE_URL"
        : "check the permissions and the free space of that folder, or set DOCMIRROR_DATA_DIR to another one",
    });
  }
  await appendFile(join(cluster, "postgresql.conf"), SETTINGS);
  await rename(cluster, paths.cluster);
  await removeStage(folder, signal);
}

/** The initdb of a killed start may live on and write. It ends when it misses its files, so this tries again, for 5 s. */
async function removeStage(folder: string, signal: AbortSignal | undefined): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      // Its own retries begin anew in each folder above one that fails: a few levels would take hours.
      return await rm(folder, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY" || tries === 50) throw error;
    }
    await systemClock.sleep(100, signal);
  }
}

/** The password. The first call creates it. Only the user who runs docmirror can read the file. */
export async function ensurePassword(paths: EmbeddedPaths): Promise<string> {
  const kept = (await readIfThere(paths.password)).trim();
  if (kept !== "") return kept;
  const password = randomBytes(24).toString("base64url");
  await writeFile(paths.password, `${password}\n`, { mode: 0o600 });
  return password;
}

/** The text of a file; empty when there is no such file. */
export async function readIfThere(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** Throws StoreError when the disk is almost full: the messages of Postgres are hard to read then. */
export async function assertRoom(dataDir: string, neededMb = NEEDED_MB): Promise<void> {
  const disk = await statfs(dataDir);
  const freeMb = Math.floor((disk.bavail * disk.bsize) / 1e6);
  if (freeMb < neededMb) {
    const room = `${freeMb} MB free, ${neededMb} MB needed`;
    throw new StoreError(`could not use the data directory ${dataDir}: ${room}`, {
      sqlstate: "ENOSPC",
      hint: "free space on that disk, or set DOCMIRROR_DATA_DIR to a folder on another disk",
    });
  }
}

async function runInitdb(
  { binaries, account, signal }: ClusterOptions,
  args: string[],
  inherit: number | undefined,
): Promise<string | null> {
  const child = spawn(binaries.initdb, args, {
    cwd: "/",
    env: SERVER_ENV,
    stdio: ["ignore", "pipe", "pipe", ...(inherit === undefined ? [] : [inherit])],
    ...account.spawnAs,
    // After a SIGTERM initdb ends what it has begun, which takes long on a slow disk. Nobody waits for it, and its files go.
    ...(signal && { signal, killSignal: "SIGKILL" }),
  });
  let said = "";
  const keep = (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-2000);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return await new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => resolve(code === 0 ? null : said.trim() || `exit code ${code}`));
  });
}

/** The server does not need our environment, which may hold secrets. */
export const SERVER_ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

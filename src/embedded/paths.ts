import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StoreError } from "../errors.ts";
import type { ServerAccount } from "./account.ts";
import { foreignOwnerError } from "./owner.ts";

export interface EmbeddedPaths {
  dataDir: string;
  cluster: string;
  password: string;
  port: string;
  log: string;
  lock: string;
  /** How the server's account gets to a folder of its own in the data directory. */
  seenByServer(account: ServerAccount, name: string): SeenFolder;
}

export interface SeenFolder {
  path: string;
  /** A descriptor that the child must inherit as its number 3 for `path` to hold, or none. */
  descriptor: number | undefined;
  /** To be called once the child runs. */
  close(): void;
}

/** Makes the data directory, for the one alone who runs docmirror. Throws StoreError when it is no folder, or without the rights. */
export function createPaths(dataDirSetting: string): EmbeddedPaths {
  const wanted = resolve(dataDirSetting);
  let dataDir: string;
  try {
    makeFolder(wanted);
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
          `could not use the data directory ${dataDir}: the account ${account.name} may not enter it`,
          {
            hint: "name a folder in DOCMIRROR_DATA_DIR that it may enter, or do not run as root",
          },
        );
      }
      // The data directory is closed to others, and root's home above it may be. A folder that root opened and handed down is not:
      // through the descriptor the server reaches its own data and nothing else of root's.
      const descriptor = openSync(join(dataDir, name), "r");
      return { path: "/proc/self/fd/3", descriptor, close: () => closeSync(descriptor) };
    },
  };
}

/** Node's own recursive mkdir never ends where a folder cannot be made below one that is there, as in /proc. */
function makeFolder(path: string, mode = 0o700): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    if (code !== "ENOENT" || existsSync(dirname(path))) throw error;
    makeFolder(dirname(path), 0o755);
    mkdirSync(path, { mode });
  }
}

/** What went wrong with the data directory, in words; any other error is given back. */
export function toDataDirError(error: unknown, dataDir: string): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  const faults: Record<string, [what: string, hint: string]> = {
    EACCES: ["no right to write there", "change its rights, or name another folder in DOCMIRROR_DATA_DIR"],
    EPERM: ["no right to write there", "change its rights, or name another folder in DOCMIRROR_DATA_DIR"],
    EROFS: ["the file system is read-only", "name another folder in DOCMIRROR_DATA_DIR"],
    ENOTDIR: ["it is a file, or lies below one", "name a folder in DOCMIRROR_DATA_DIR"],
    EEXIST: ["it is a file", "name a folder in DOCMIRROR_DATA_DIR"],
    ENOSPC: ["no room is left on the disk", "make room, or name another folder in DOCMIRROR_DATA_DIR"],
    EDQUOT: ["the disk quota is used up", "make room, or name another folder in DOCMIRROR_DATA_DIR"],
    ENOENT: ["it cannot be made there, or vanished", "name another folder in DOCMIRROR_DATA_DIR"],
  };
  const fault = code === undefined ? undefined : faults[code];
  if (fault === undefined) return error;
  const foreign = code === "EACCES" || code === "EPERM" ? foreignOwnerError(dataDir, error) : null;
  if (foreign !== null) return foreign;
  return new StoreError(`could not use the data directory ${dataDir}: ${fault[0]} (${code})`, {
    cause: error,
    sqlstate: code,
    hint: fault[1],
  });
}

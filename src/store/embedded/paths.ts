import { closeSync, openSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { StoreError } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import type { ServerAccount } from "./account.ts";
import { foreignOwnerError } from "./owner.ts";

export type EmbeddedPaths = ReturnType<typeof createPaths>;

/** Creates the data directory, private to our user. Throws StoreError without a permission or a folder. */
export function createPaths(dataDirSetting: string) {
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
    /**
     * How the account of the server reaches a folder in the data directory. A `descriptor` must be number 3 of
     * the child, so that `path` works. Call `close` once the child runs.
     */
    seenByServer(account: ServerAccount, name: string) {
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

type Fault = [what: string, hint: string];
const DENIED: Fault = [
  "no permission to write there",
  "change its permissions, or set DOCMIRROR_DATA_DIR to another folder",
];
const FAULTS: Readonly<Record<string, Fault>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: ["the file system is read-only", "set DOCMIRROR_DATA_DIR to another folder"],
  ENOTDIR: ["it is a file, or is below a file", "set DOCMIRROR_DATA_DIR to a folder"],
  EEXIST: ["it is a file", "set DOCMIRROR_DATA_DIR to a folder"],
  ENOSPC: ["the disk is full", "free space, or set DOCMIRROR_DATA_DIR to another folder"],
  ENOTEMPTY: ["another process still writes there", "try again when it has ended"],
  EDQUOT: ["the disk quota is used up", "free space, or set DOCMIRROR_DATA_DIR to another folder"],
  ENOENT: ["it cannot be created there, or was removed", "set DOCMIRROR_DATA_DIR to another folder"],
};

/** Explains an error of the data directory. Any other error is returned unchanged. */
export function toDataDirError(error: unknown, dataDir: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const fault = code === undefined ? undefined : FAULTS[code];
  if (fault === undefined) return error;
  const foreign = fault === DENIED ? foreignOwnerError(dataDir, error) : null;
  if (foreign !== null) return foreign;
  return new StoreError(`could not use the data directory ${dataDir}: ${fault[0]} (${code})`, {
    cause: error,
    sqlstate: code,
    hint: fault[1],
  });
}

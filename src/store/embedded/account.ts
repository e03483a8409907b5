import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { StoreError } from "../../base/errors.ts";

/** Runs the server: our own user, or the system account `postgres` for root, whom Postgres refuses. */
export interface ServerAccount {
  name: string;
  /** For `spawn`. Empty when the server runs as the current user. */
  spawnAs: { uid?: number; gid?: number };
  /** True where the account can reach this folder through all its parent folders. */
  canEnter(folder: string): boolean;
}

const SERVER_ACCOUNT = "postgres";

/** Creates the account if it is missing. Throws StoreError where that is impossible. */
export function findServerAccount(): ServerAccount {
  if (process.geteuid?.() !== 0) return { name: "ourselves", spawnAs: {}, canEnter: () => true };
  const ids = readIds() ?? createAccount();
  return {
    name: SERVER_ACCOUNT,
    spawnAs: ids,
    canEnter: (folder) =>
      spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { cwd: "/", ...ids }).status === 0,
  };
}

function readIds(): { uid: number; gid: number } | undefined {
  const [uid, gid] = ["-u", "-g"].map((flag) =>
    Number.parseInt(spawnSync("id", [flag, SERVER_ACCOUNT], { encoding: "utf8" }).stdout ?? "", 10),
  ) as [number, number];
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : undefined;
}

function createAccount(): { uid: number; gid: number } {
  const name = SERVER_ACCOUNT;
  const ways: [string, string[]][] = [
    ["useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/bin/false", name]],
    ["adduser", ["-S", "-D", "-H", "-s", "/bin/false", name]], // BusyBox
  ];
  let said = "";
  for (const [program, args] of ways) {
    const result = spawnSync(program, args, { encoding: "utf8" });
    // Also after a failure: another command may have created it at the same moment.
    const found = readIds();
    if (found !== undefined) return found;
    said ||= result.error?.message ?? result.stderr.trim();
  }
  const hint = `Postgres does not run as root: run docmirror as another user, create the account (\`useradd --system ${name}\`), or set DATABASE_URL`;
  throw new StoreError(
    `could not create the system account ${name}, which runs the embedded Postgres: ${said}`,
    { hint },
  );
}

/** Throws StoreError when the data has another owner: Postgres starts for the owner alone, even for root. */
export function assertOwner(
  { cluster, dataDir }: { cluster: string; dataDir: string },
  account: ServerAccount,
): void {
  const uid = account.spawnAs.uid ?? process.geteuid?.();
  const owner = ownerOf(cluster);
  if (owner !== undefined && uid !== undefined && owner !== uid) throw ownedBy(owner, dataDir);
}

/** The same error for a folder that the system denied. Null for our own folder, and when the owner is unknown. */
export function foreignOwnerError(dataDir: string, cause: unknown): StoreError | null {
  const owner = ownerOf(dataDir);
  if (owner === undefined || owner === process.geteuid?.()) return null;
  return ownedBy(owner, dataDir, cause);
}

function ownedBy(uid: number, dataDir: string, cause?: unknown): StoreError {
  const name = nameOf(uid);
  const madeByRoot =
    name === SERVER_ACCOUNT
      ? `; that user also owns the data that root created, so it may have been root`
      : "";
  return new StoreError(`The data in ${dataDir} belongs to user ${name}; run docmirror as that user`, {
    cause,
    hint: `or set DOCMIRROR_DATA_DIR to another folder${madeByRoot}`,
  });
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

function nameOf(uid: number): string {
  const name = spawnSync("id", ["-un", String(uid)], { encoding: "utf8" }).stdout?.trim() ?? "";
  return name === "" ? String(uid) : name;
}

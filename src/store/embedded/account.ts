import { spawnSync } from "node:child_process";
import { StoreError } from "../../base/errors.ts";

/** Runs the server: our own user, or the system account `postgres` for root, whom Postgres refuses. */
export interface ServerAccount {
  name: string;
  /** For `spawn`. Empty when the server runs as the current user. */
  spawnAs: { uid?: number; gid?: number };
  /** Whether the account can reach this folder through all its parent folders. */
  canEnter(folder: string): boolean;
}

/** The system account that runs the server when root runs docmirror. */
export const SERVER_ACCOUNT = "postgres";

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
  throw new StoreError(
    `could not create the system account ${name}, which runs the embedded Postgres: ${said}`,
    {
      hint: `Postgres does not run as root: run docmirror as another user, create the account (\`useradd --system ${name}\`), or set DATABASE_URL`,
    },
  );
}

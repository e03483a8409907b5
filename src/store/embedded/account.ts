import { spawnSync } from "node:child_process";
import { StoreError } from "../../base/errors.ts";

/**
 * The account that runs the server. Postgres refuses to run as root. If root runs docmirror, the server runs
 * as the system account `postgres`.
 */
export interface ServerAccount {
  name: string;
  /** For `spawn`. Empty when the server runs as the current user. */
  spawnAs: { uid?: number; gid?: number };
  /** Whether the account can reach this folder through all its parent folders. */
  canEnter(folder: string): boolean;
}

/** The system account that runs the server when root runs docmirror. */
export const SERVER_ACCOUNT = "postgres";
const NAME = SERVER_ACCOUNT;

/** Creates the account if it is missing. Throws StoreError where that is impossible. */
export function findServerAccount(): ServerAccount {
  if (process.geteuid?.() !== 0) return { name: "ourselves", spawnAs: {}, canEnter: () => true };
  const ids = readIds() ?? createAccount();
  const spawnAs = { uid: ids.uid, gid: ids.gid };
  return {
    name: NAME,
    spawnAs,
    canEnter: (folder) =>
      spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { cwd: "/", ...spawnAs }).status === 0,
  };
}

function readIds(): { uid: number; gid: number } | undefined {
  const uid = Number.parseInt(spawnSync("id", ["-u", NAME], { encoding: "utf8" }).stdout ?? "", 10);
  const gid = Number.parseInt(spawnSync("id", ["-g", NAME], { encoding: "utf8" }).stdout ?? "", 10);
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : undefined;
}

function createAccount(): { uid: number; gid: number } {
  const ways: [string, string[]][] = [
    ["useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/bin/false", NAME]],
    ["adduser", ["-S", "-D", "-H", "-s", "/bin/false", NAME]], // BusyBox
  ];
  let said = "";
  for (const [program, args] of ways) {
    const result = spawnSync(program, args, { encoding: "utf8" });
    const ids = result.status === 0 ? readIds() : undefined;
    // Another command may have created it at the same moment.
    const found = ids ?? readIds();
    if (found !== undefined) return found;
    said ||= result.error?.message ?? result.stderr.trim();
  }
  throw new StoreError(
    `could not create the system account ${NAME}, which runs the embedded Postgres: ${said}`,
    {
      hint: `Postgres does not run as root: run docmirror as another user, create the account (\`useradd --system ${NAME}\`), or set DATABASE_URL`,
    },
  );
}

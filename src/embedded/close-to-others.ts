import { chmod, chown, readdir, stat } from "node:fs/promises";
import type { Logger } from "../log.ts";
import type { ServerAccount } from "./account.ts";
import type { EmbeddedPaths } from "./paths.ts";

/** What docmirror keeps in a data directory. */
const OURS = /^(?:postgres(?:\.log|-unfinished-\d+)?|password|port|lock(?:\.[0-9a-f]+)?)$/;
const STICKY = 0o1000;

/**
 * Leaves the data directory, its log and its password to the one who runs docmirror, as versions before did not. A folder that holds other
 * files too, or belongs to someone else, keeps its rights: it is not ours alone, and what is secret in it is closed by itself.
 */
export async function closeToOthers(
  paths: EmbeddedPaths,
  account: ServerAccount,
  log: Logger,
): Promise<void> {
  const me = process.geteuid?.();
  const isMine = async (path: string) => (await stat(path).catch(() => null))?.uid === me;
  for (const file of [paths.password, paths.log]) if (await isMine(file)) await chmod(file, 0o600);
  if (!(await isMine(paths.dataDir))) return;
  const { mode } = await stat(paths.dataDir);
  const isShared = (mode & STICKY) !== 0 || (await readdir(paths.dataDir)).some((name) => !OURS.test(name));
  if (isShared) {
    log.debug({ dataDir: paths.dataDir }, "the data directory holds other files, so its rights are left");
    return;
  }
  if (account.spawnAs.gid === undefined || process.platform === "linux") await chmod(paths.dataDir, 0o700);
  else {
    // Elsewhere no descriptor leads the server's account past a closed folder, so its group may go through, and see nothing.
    await chown(paths.dataDir, me ?? 0, account.spawnAs.gid);
    await chmod(paths.dataDir, 0o710);
  }
}

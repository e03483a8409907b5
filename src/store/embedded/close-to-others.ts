import { chmod, chown, readdir, stat } from "node:fs/promises";
import type { Logger } from "../../base/log.ts";
import type { ServerAccount } from "./account.ts";
import type { EmbeddedPaths } from "./paths.ts";

/** The files that docmirror keeps in a data directory. */
const OURS = /^(?:postgres(?:\.log|-unfinished-\d+)?|password|port|lock(?:\.[0-9a-f]+)?)$/;
const STICKY = 0o1000;

/**
 * Makes the data directory, its log and its password private to the user who runs docmirror. Older versions
 * did not. A folder that also holds other files, or belongs to another user, keeps its permissions: docmirror
 * shares it, and the secret files in it are private themselves.
 */
export async function closeToOthers(paths: EmbeddedPaths, account: ServerAccount, log: Logger) {
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

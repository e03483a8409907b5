import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ConfigError, withOutputErrors } from "../../base/errors.ts";
import { PRIVATE_FILE } from "../../base/make-folder.ts";
import { isBackup } from "./read-backup.ts";

/** A draft grows all the time. One that did not for so long was left by a killed backup. */
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Has a file written under a name of its own beside `file`. It takes its place when `write` has ended and the disk has
 * it; when that fails it is removed, and what was there stays. Its rows are about people, so others may not read it.
 * Throws ConfigError where something else than a backup is there, and where it cannot be written.
 */
export async function withBackupFile<T extends object>(
  file: string,
  write: (handle: FileHandle, draft: string) => Promise<T>,
): Promise<T & { bytes: number }> {
  if (file === "") throw new ConfigError("the file has no name");
  const path = resolve(file);
  // A link stays, and what it points to is replaced.
  const place = await realpath(path).catch(() => path);
  await assertReplaceable(place, file);
  await removeAbandoned(dirname(place), (name) => name === basename(place));
  // Not by the process: two containers may write here, and each has a process 1.
  const draft = join(dirname(place), `.${basename(place)}.partial-${randomBytes(6).toString("hex")}`);
  const handle = await withOutputErrors(file, () => open(draft, "wx", PRIVATE_FILE));
  try {
    let facts: T;
    try {
      facts = await write(handle, draft);
      await withOutputErrors(file, () => handle.sync());
    } finally {
      await handle.close();
    }
    const { size: bytes } = await stat(draft);
    await withOutputErrors(file, () => rename(draft, place));
    await syncFolder(dirname(place));
    return { ...facts, bytes };
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

async function assertReplaceable(place: string, file: string): Promise<void> {
  const facts = await withOutputErrors(file, () =>
    stat(place).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    }),
  );
  if (facts === null) return;
  const hint = "name a file that does not exist yet, an earlier backup, or with --keep a folder of them";
  if (!facts.isFile())
    throw new ConfigError(`${file} is ${facts.isDirectory() ? "a folder" : "not a file"}`, { hint });
  if (!(await isBackup(place)))
    throw new ConfigError(`${file} is not a backup, so it is not replaced`, { hint });
}

/** Removes what killed backups left in `folder`, of the files whose names are ours. */
export async function removeAbandoned(folder: string, isOurs: (name: string) => boolean): Promise<void> {
  for (const name of await readdir(folder).catch((): string[] => [])) {
    const [, of] = /^\.(.*)\.partial-[0-9a-f]+$/.exec(name) ?? [];
    if (of === undefined || !isOurs(of)) continue;
    const path = join(folder, name);
    const facts = await lstat(path).catch(() => null);
    // A clock that was wrong may have dated it ahead.
    if (facts?.isFile() && Math.abs(Date.now() - facts.mtimeMs) > ABANDONED_AFTER_MS)
      await rm(path, { force: true }).catch(() => {});
  }
}

/** After a crash of the machine the new name must be there. Some systems cannot open a folder. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

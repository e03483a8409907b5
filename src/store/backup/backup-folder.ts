/**
 * A folder of backups, each named by its moment. What need not be kept is removed once a newer one is whole: the newest ones stay, and
 * the first one of each of the last twelve months.
 */
import { access, constants, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError, toOutputError } from "../../base/errors.ts";
import { removeAbandoned } from "./backup-file.ts";
import { isBackup } from "./read-backup.ts";
import { type BackupOptions, type WrittenBackup, writeBackup } from "./write-backup.ts";

export interface FolderOptions extends Omit<BackupOptions, "file"> {
  folder: string;
  /** The number of the newest ones that stay. */
  keep: number;
  now: Date;
}

export interface FolderBackup extends WrittenBackup {
  /** The path of the new backup. */
  what: string;
  removed: string[];
  /** Paths that were to be removed, and are still there. */
  left: string[];
}

const NAME = /^docmirror-\d{4}-\d\d-\d\dT\d{6}Z\.backup$/;

/**
 * Adds a backup to a folder, then removes those that need not be kept. No other file is removed, and nothing at all where
 * the backup failed. Throws what `writeBackup` throws, and ConfigError where the folder is not there.
 */
export async function backUpIntoFolder(given: FolderOptions): Promise<FolderBackup> {
  const { folder, keep, now, ...options } = given;
  await assertBackupFolder(folder);
  await removeAbandoned(folder, (name) => NAME.test(name));
  const written = `docmirror-${now.toISOString().replace(/:|\.\d+/g, "")}.backup`;
  const what = join(folder, written);
  const facts = await writeBackup({ ...options, file: what });
  const [removed, left]: [string[], string[]] = [[], []];
  for (const name of findSuperfluous(await listBackups(folder), written, keep)) {
    const path = join(folder, name);
    await rm(path).then(
      () => removed.push(path),
      () => left.push(path),
    );
  }
  return { ...facts, what, removed, left };
}

/** The folder is never made: where its disk is gone, backups would fill another one. */
export async function assertBackupFolder(folder: string): Promise<void> {
  try {
    if (!(await stat(folder)).isDirectory())
      throw new ConfigError(`${folder} is not a folder`, { hint: "name the folder of the backups" });
    await access(folder, constants.W_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw toOutputError(error, folder);
    const hint =
      "make the folder, or mount its disk; a backup makes none, so that it never fills another disk";
    throw new ConfigError(`the folder ${folder} is not there`, { cause: error, hint });
  }
}

/** Links are left alone. */
async function listBackups(folder: string): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isFile() && NAME.test(entry.name) && (await isBackup(join(folder, entry.name))))
      names.push(entry.name);
  return names;
}

/** Those of the backups that need not be kept, now that one was written. The names sort by their moments. */
export function findSuperfluous(names: readonly string[], written: string, keep: number): string[] {
  // A wrong clock dated those ahead. They must not take the place of others, and may be good.
  const past = names
    .filter((name) => name <= written)
    .toSorted()
    .toReversed();
  const monthOf = (name: string) => name.slice("docmirror-".length, "docmirror-2026-11".length);
  const [year, month] = monthOf(written).split("-");
  const yearAgo = `${String(Number(year) - 1).padStart(4, "0")}-${month}`;
  const firsts = new Map(past.map((name) => [monthOf(name), name]));
  const kept = [...past.slice(0, keep), ...[...firsts].flatMap(([of, name]) => (of > yearAgo ? [name] : []))];
  return past.filter((name) => !kept.includes(name));
}

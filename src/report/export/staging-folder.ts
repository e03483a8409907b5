import { randomBytes } from "node:crypto";
import { chmod, chown, open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ConfigError, toOutputError } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { isJsonObject } from "../../resources/parse-json.ts";

/** Marks a folder that an export made. Readers of partitioned data ignore names that begin with `_`. */
export const MARKER = "_docmirror.json";

/** A folder that an export left, and in which nothing was written for so long, is removed. */
export const ABANDONED_AFTER_MS = 86_400_000;

/**
 * Lets `fn` fill a hidden folder next to `target`, then moves it into place. Readers see the old folder or the new one, or
 * none for a moment between two renames. When `fn` fails, its files are removed and the old folder stays. Throws ConfigError
 * unless `target` is missing, empty or an export: no other folder is ever replaced. `own` names the content of an export
 * besides its marker. `fn` also gets the place of the old folder, to keep files of it.
 */
export async function withStagingFolder<T>(
  target: string,
  own: readonly string[],
  fn: (folder: string, old: string) => Promise<T>,
): Promise<T> {
  const place = await findPlace(target);
  const staging = siblingPath(place, "partial");
  try {
    await clearUp(place);
    await assertReplaceable(place, own);
    const before = await identify(place);
    makeFolder(staging, 0o777);
    await takeRights(place, staging);
    const result = await fn(staging, place);
    await assertReplaceable(place, own);
    if ((await identify(place)) !== before)
      throw new ConfigError(`another export wrote to ${place} meanwhile`, { hint: "run the command again" });
    await swapIn(staging, place);
    return result;
  } catch (error) {
    await rm(staging, { recursive: true, force: true }).catch(() => {});
    throw toOutputError(error, place);
  }
}

/** Writes what marks a folder as an export, with what is known of it, and gives its path. */
export async function writeMarker(folder: string, facts: unknown): Promise<string> {
  const path = join(folder, MARKER);
  const file = await open(path, "wx");
  try {
    await file.writeFile(`${JSON.stringify(facts, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return path;
}

/** Reads a text that somebody may have edited: an empty object where it is no JSON, or no object. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** The new folder belongs to the group of the old one, and opens to as many: an operator has chosen both. */
async function takeRights(old: string, folder: string): Promise<void> {
  const given = await stat(old).catch(() => null);
  if (given === null) return;
  // Only a member of the group, or root, may do that.
  await chown(folder, given.uid, given.gid).catch(() => chown(folder, -1, given.gid).catch(() => {}));
  await chmod(folder, (given.mode & 0o7777) | 0o700).catch(() => {});
}

async function identify(place: string): Promise<string | null> {
  const found = await stat(place).catch(() => null);
  return found && `${found.ino} ${found.birthtimeMs}`;
}

/** Goes again where another export has put the old folder back meanwhile, as after one that was killed here. */
async function swapIn(staging: string, place: string): Promise<void> {
  for (;;) {
    const old = siblingPath(place, "old");
    let isThere = true;
    await rename(place, old).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      isThere = false;
    });
    try {
      await rename(staging, place);
      return await rm(old, { recursive: true, force: true });
    } catch (error) {
      if (["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) continue;
      if (isThere) await rename(old, place);
      throw error;
    }
  }
}

/** A symbolic link stays; the folder that it points to is replaced. */
async function findPlace(target: string): Promise<string> {
  const path = resolve(target);
  const place = await realpath(path).catch(() => path);
  if (dirname(place) === place) throw new ConfigError(`${target} is the root of the file system`);
  return place;
}

/** Not by the process: two containers may export to one place, and each has a process 1. */
const siblingPath = (place: string, what: "partial" | "old"): string =>
  join(dirname(place), `.${basename(place)}.${what}-${randomBytes(6).toString("hex")}`);

/** Repairs what killed exports left: puts back the old folder of a half-done swap, and removes old folders. */
async function clearUp(place: string): Promise<void> {
  const parent = dirname(place);
  for (const name of await readdir(parent).catch((): string[] => [])) {
    const [, left, what] = /^\.(.*)\.(partial|old)-[0-9a-f]+$/.exec(name) ?? [];
    if (left !== basename(place)) continue;
    const path = join(parent, name);
    if (what === "old" && (await identify(place)) === null) await rename(path, place).catch(() => {});
    else if (Date.now() - (await lastWritten(path)) > ABANDONED_AFTER_MS)
      await rm(path, { recursive: true, force: true });
  }
}

/** When something in a folder was last written. An export may write one file for hours. */
async function lastWritten(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const times = [".", ...names].map((name) =>
    stat(join(folder, name)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  );
  return Math.max(...(await Promise.all(times)));
}

async function assertReplaceable(place: string, own: readonly string[]): Promise<void> {
  const names = await readdir(place).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const strange = names.filter((name) => name !== MARKER && !own.includes(name));
  if (names.length === 0 || (names.includes(MARKER) && strange.length === 0)) return;
  const foreign = `contains ${strange[0]}, which is not part of an export`;
  const why = names.includes(MARKER) ? foreign : "was not made by an export";
  throw new ConfigError(`${place} ${why}, so it is not replaced`, {
    hint: "name a folder that does not exist yet, or is empty",
  });
}

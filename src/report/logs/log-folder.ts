/**
 * The folder of an export of logs. Files are only added to it: a log that was removed from the mirror may be nowhere else.
 * The manifest is replaced at once, behind the files that it names, so whenever an export is killed the folder is whole.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ConfigError, withOutputErrors } from "../../base/errors.ts";
import { makeFolder, PRIVATE_FILE } from "../../base/make-folder.ts";
import { readVersion } from "../../base/version.ts";
import { isJsonObject } from "../../resources/parse-json.ts";
import { isWhole, linkFile, syncFile } from "../export/part-files.ts";
import { ABANDONED_AFTER_MS, isCount, MARKER, parseObject, writeMarker } from "../export/staging-folder.ts";

/** A complete file, as the manifest has it: its path is relative to the folder, its hash in hex. */
export type LogFile = { path: string; rows: number; bytes: number; sha256: string };

/** A file that waits in the folder of the export that writes it. The month is such as `2026-10`, or `undated`. */
export type WrittenPart = { month: string; place: string; rows: number };

const MADE_BY = "docmirror export --logs";
const STAGING = "_partial-";
const PATH = /^build_logs\/triggered_month=([\w-]+)\/part-(\d+)\.parquet$/;

export const monthOf = ({ path }: LogFile): string | undefined => PATH.exec(path)?.[1];

/** The files of the export in `folder`. Throws ConfigError where there is none, or where the manifest is damaged. */
export async function readLogFolder(folder: string): Promise<LogFile[]> {
  const text = await readFile(join(folder, MARKER), "utf8").catch((cause: unknown) => {
    throw new ConfigError(`${folder} has no export of logs`, {
      cause,
      hint: `name the folder of one, or make one: \`${MADE_BY} --out ${folder}\``,
    });
  });
  const files = parseManifest(text);
  if (files !== null) return files;
  throw new ConfigError(`the ${MARKER} in ${folder} is not one of an export of logs`, {
    hint: "name another folder, or put that file back from a copy",
  });
}

/** True where a file has just the bytes that were written. */
export async function isIntact(folder: string, { path, bytes, sha256 }: LogFile, signal: AbortSignal) {
  const place = join(folder, path);
  return (await isWhole(place, bytes)) && (await hashFile(place, signal)) === sha256;
}

/**
 * Lets `fn` write parts into a folder of their own and adds them to the export in `folder`, which is made where it is missing
 * or empty. Gives all files behind that. When `fn` fails, nothing was added. Throws ConfigError for a folder of other files.
 */
export function addLogFiles(
  folder: string,
  fn: (staging: string, before: readonly LogFile[]) => Promise<WrittenPart[]>,
): Promise<LogFile[]> {
  return withOutputErrors(folder, async () => {
    await begin(folder);
    const before = await readLogFolder(folder);
    const staging = await mkdtemp(join(folder, STAGING));
    try {
      const parts = await fn(staging, before);
      return await publish(folder, staging, before, parts);
    } finally {
      await rm(staging, { recursive: true, force: true }).catch(() => {});
    }
  });
}

/** Removes what killed exports left. A new folder gets its manifest first, which marks it as ours. */
async function begin(folder: string): Promise<void> {
  makeFolder(folder, 0o777);
  const names = await readdir(folder);
  for (const name of names.filter((name) => name.startsWith(STAGING))) {
    const found = await stat(join(folder, name)).catch(() => null);
    if (found && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
  if (names.includes(MARKER)) return;
  const strange = names.find((name) => !name.startsWith(STAGING));
  if (strange !== undefined) {
    throw new ConfigError(`${folder} was not made by an export of logs: it contains ${strange}`, {
      hint: "name a folder that does not exist yet, or is empty",
    });
  }
  await writeMarker(folder, manifestOf([]));
}

type Parts = readonly WrittenPart[];

async function publish(folder: string, staging: string, before: readonly LogFile[], parts: Parts) {
  const added: LogFile[] = [];
  try {
    for (const part of parts) added.push(await addPart(folder, before, part));
    const files = [...before, ...added].toSorted((one, other) => comparePaths(one.path, other.path));
    const marker = await writeMarker(staging, manifestOf(files));
    const found = await readLogFolder(folder);
    if (JSON.stringify(found) !== JSON.stringify(before))
      throw new ConfigError(`another export wrote to ${folder} meanwhile`, { hint: "run the command again" });
    await rename(marker, join(folder, MARKER));
    return files;
  } catch (error) {
    for (const { path } of added) await rm(join(folder, path), { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Gives a part the next free name of its month. No file is ever replaced, not even one that no manifest names, and none gets
 * the name of one that is gone.
 */
async function addPart(folder: string, before: readonly LogFile[], { month, place, rows }: WrittenPart) {
  await chmod(place, PRIVATE_FILE);
  await syncFile(place);
  const { size: bytes } = await stat(place);
  const sha256 = await hashFile(place);
  const pathOf = (number: number) => `build_logs/triggered_month=${month}/part-${number}.parquet`;
  await mkdir(dirname(join(folder, pathOf(0))), { recursive: true });
  const names = await readdir(dirname(join(folder, pathOf(0))));
  const named = before.filter((file) => monthOf(file) === month).map(({ path }) => basename(path));
  const numbers = [...names, ...named].map((name) => Number(/^part-(\d+)\./.exec(name)?.[1] ?? -1));
  const path = pathOf(Math.max(-1, ...numbers) + 1);
  await linkFile(place, join(folder, path));
  return { path, rows, bytes, sha256 };
}

async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

const manifestOf = (files: readonly LogFile[]) => ({
  made_by: MADE_BY,
  layout: 1,
  version: readVersion(),
  files,
});

/** Anybody may have edited the text. Null where it is no such manifest. */
function parseManifest(text: string): LogFile[] | null {
  const { made_by, layout, files } = parseObject(text);
  const isOurs = made_by === MADE_BY && layout === 1 && Array.isArray(files) && files.every(isLogFile);
  return isOurs ? files : null;
}

function isLogFile(file: unknown): file is LogFile {
  if (!isJsonObject(file)) return false;
  const { path, rows, bytes, sha256 } = file;
  return PATH.test(String(path)) && isCount(rows) && isCount(bytes) && /^[0-9a-f]{64}$/.test(String(sha256));
}

/** By month, and in a month by number. */
function comparePaths(one: string, other: string): number {
  const byFolder = dirname(one).localeCompare(dirname(other), "en");
  return byFolder === 0 ? numberOf(one) - numberOf(other) : byFolder;
}

const numberOf = (path: string): number => Number(/\d+/.exec(basename(path))?.[0]);

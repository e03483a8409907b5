/**
 * A backup is one file: gzip around a line that names the form, then frames, each a letter, a length of four bytes and
 * its content.
 *
 *   H  the header: version, moment, migrations, the tables with their columns, the last numbers that were given
 *   D  rows of the first table as COPY writes them as text, cut anywhere; as many frames as it takes
 *   E  the end of that table, with the number of its rows; D and E again for each table of the header
 *   Z  the end, with the SHA-256 of all before it
 *
 * A reader holds one frame at a time. COPY's text is the same in all versions of Postgres, and rows go to columns by
 * name. The form has no paths, and a name of a table is only compared with those that the schema has.
 */

import { createHash } from "node:crypto";
import { constants, type FileHandle, open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { ConfigError } from "../../base/errors.ts";

export const MAGIC = Buffer.from("docmirror backup 1\n");
export const HEAD_BYTES = 5;
/** The longest content of a frame, by its letter. */
export const LIMITS = { H: 1 << 20, D: 1 << 20, E: 1024, Z: 1024 } as const;
export type FrameKind = keyof typeof LIMITS;

export interface BackedUpTable {
  name: string;
  columns: string[];
}

export interface BackupHeader {
  version: string;
  /** The moment that it shows, in UTC. */
  taken_at: string;
  migrations: { tag: string; hash: string }[];
  /** Each after those that it refers to. */
  tables: BackedUpTable[];
  /** The last number that the identity column of each table gave. */
  numbers: { table: string; column: string; last: number }[];
}

export function frame(kind: FrameKind, content: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(kind, "latin1");
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

export const jsonFrame = (kind: FrameKind, value: unknown): Buffer =>
  frame(kind, Buffer.from(JSON.stringify(value)));

/** Rows end with a newline, and COPY writes one within a value as `\n`. */
export function countRows(bytes: Buffer): number {
  let rows = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) rows++;
  return rows;
}

export function unusable(file: string, why: string, cause?: unknown): ConfigError {
  return new ConfigError(`${file} cannot be restored: ${why}`, {
    cause,
    hint: "nothing was changed; use another backup",
  });
}

/** Throws ConfigError unless it is a header as `write-backup.ts` writes it. Names are only known to be texts. */
function parseHeader(file: string, content: Buffer): BackupHeader {
  const header = parseJson(file, content);
  const { version, taken_at, migrations, tables, numbers } = header as Partial<BackupHeader>;
  const isHeader =
    isText(version) &&
    isText(taken_at) &&
    !Number.isNaN(Date.parse(taken_at)) &&
    isListOf(migrations, ({ tag, hash }) => isText(tag) && isText(hash)) &&
    isListOf(tables, ({ name, columns }) => isText(name) && isTexts(columns)) &&
    isListOf(
      numbers,
      ({ table, column, last }) => isText(table) && isText(column) && Number.isSafeInteger(last),
    );
  if (!isHeader) throw unusable(file, "its header is not that of a backup");
  return header as unknown as BackupHeader;
}

function parseJson(file: string, content: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(content.toString("utf8"));
    if (isObject(value)) return value;
  } catch {
    // It is no JSON, as below.
  }
  throw unusable(file, "it is damaged");
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isText);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isListOf = (value: unknown, isOne: (one: Record<string, unknown>) => boolean): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && isOne(one));

export type BackupPart =
  | { kind: "header"; header: BackupHeader }
  | { kind: "rows"; table: BackedUpTable; bytes: Buffer; rows: number }
  /** Comes for each table, also for one without rows. */
  | { kind: "end"; table: BackedUpTable; rows: number };

/** The content of a backup. */
export interface BackupFacts {
  header: BackupHeader;
  rows: Record<string, number>;
}

/**
 * Reads a backup part after part. Only who has read it to its end knows that it is whole. Throws ConfigError when it is
 * not a backup, cut off or altered, and the signal's reason.
 */
export async function* readBackup(file: string, signal: AbortSignal): AsyncGenerator<BackupPart> {
  const handle = await openFile(file);
  try {
    const gunzip = createGunzip();
    const stream = handle.createReadStream({ autoClose: false, signal });
    stream.on("error", (error) => gunzip.destroy(error));
    const { size } = await handle.stat();
    yield* readParts(file, stream.pipe(gunzip));
    if (gunzip.bytesWritten !== size) throw unusable(file, "something follows its end");
  } catch (error) {
    signal.throwIfAborted();
    throw toReadError(error, file);
  } finally {
    await handle.close();
  }
}

/** Reads a backup to its end. Throws as `readBackup` does. */
export async function checkBackup(
  file: string,
  { signal, onRows }: { signal: AbortSignal; onRows?: (rows: number) => void },
): Promise<BackupFacts> {
  let header: BackupHeader | undefined;
  const rows: Record<string, number> = {};
  let read = 0;
  for await (const part of readBackup(file, signal)) {
    if (part.kind === "header") header = part.header;
    else if (part.kind === "end") rows[part.table.name] = part.rows;
    else {
      read += part.rows;
      onRows?.(read);
    }
  }
  if (header === undefined) throw unusable(file, "it has no header");
  return { header, rows };
}

/** True where a file begins as a backup does. */
export async function isBackup(file: string): Promise<boolean> {
  const parts = readBackup(file, new AbortController().signal);
  try {
    return (await parts.next()).value?.kind === "header";
  } catch {
    return false;
  } finally {
    await parts.return(undefined);
  }
}

async function* readParts(file: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<BackupPart> {
  const take = createTaker(file, bytes);
  const hash = createHash("sha256");
  const magic = await take(MAGIC.length);
  if (!magic.equals(MAGIC))
    throw unusable(file, "it is not a backup, or one of a later version of docmirror");
  hash.update(magic);

  async function next(...wanted: FrameKind[]): Promise<{ kind: FrameKind; content: Buffer }> {
    const head = await take(HEAD_BYTES);
    const kind = wanted.find((one) => one === String.fromCharCode(head[0] ?? 0));
    const length = head.readUInt32BE(1);
    if (kind === undefined || length > LIMITS[kind]) throw unusable(file, "it is damaged");
    const content = await take(length);
    if (kind !== "Z") hash.update(head).update(content);
    return { kind, content };
  }

  const header = parseHeader(file, (await next("H")).content);
  yield { kind: "header", header };
  for (const table of header.tables) {
    let rows = 0;
    for (;;) {
      const { kind, content } = await next("D", "E");
      if (kind === "E") {
        if (parseJson(file, content).rows !== rows) throw unusable(file, `rows of ${table.name} are missing`);
        break;
      }
      const added = countRows(content);
      rows += added;
      yield { kind: "rows", table, bytes: content, rows: added };
    }
    yield { kind: "end", table, rows };
  }
  const { content } = await next("Z");
  if (parseJson(file, content).sha256 !== hash.digest("hex")) throw unusable(file, "it was altered");
  if ((await take(1, true)).length > 0) throw unusable(file, "something follows its end");
}

/** Takes so many bytes; fewer only where `mayEnd`. */
function createTaker(file: string, source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]();
  let kept: Buffer[] = [];
  let length = 0;
  return async (wanted: number, mayEnd = false): Promise<Buffer> => {
    while (length < wanted) {
      const { value, done } = await chunks.next();
      if (done) {
        if (mayEnd) break;
        throw unusable(file, "it is cut off");
      }
      kept.push(value);
      length += value.length;
    }
    const all = Buffer.concat(kept);
    const taken = all.subarray(0, wanted);
    kept = [all.subarray(wanted)];
    length = all.length - taken.length;
    return taken;
  };
}

async function openFile(file: string): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    // Otherwise opening a pipe waits for its writer, and nothing ends that wait.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle;
  } catch (error) {
    throw toReadError(error, file);
  }
  await handle.close();
  throw unusable(file, "it is not a file");
}

const READING: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "no permission to read it",
  EPERM: "no permission to read it",
  EISDIR: "it is a folder",
  EIO: "the disk cannot read it",
  ENXIO: "it is not a file",
  Z_DATA_ERROR: "it is not a backup, or damaged",
  Z_BUF_ERROR: "it is cut off",
};

function toReadError(error: unknown, file: string): unknown {
  const why = READING[(error as NodeJS.ErrnoException).code ?? ""];
  return error instanceof ConfigError || why === undefined ? error : unusable(file, why, error);
}

import { createHash } from "node:crypto";
import { constants, type FileHandle, open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { ConfigError } from "../../base/errors.ts";
import {
  type BackedUpTable,
  type BackupHeader,
  countRows,
  type FrameKind,
  HEAD_BYTES,
  LIMITS,
  MAGIC,
  parseHeader,
  parseJson,
  unusable,
} from "./backup-form.ts";

export type BackupPart =
  | { kind: "header"; header: BackupHeader }
  /** Bytes of the rows of a table. */
  | { kind: "rows"; table: BackedUpTable; bytes: Buffer; rows: number }
  /** Comes for each table, also for one without rows. */
  | { kind: "end"; table: BackedUpTable; rows: number };

/** What a backup holds. */
export interface BackupFacts {
  header: BackupHeader;
  /** By the names of the tables. */
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

/** Whether a file begins as a backup does. */
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

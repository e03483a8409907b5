import { constants, copyFile, type FileHandle, link, mkdir, open, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withOutputErrors } from "../../base/errors.ts";
import { toCsv } from "../csv.ts";
import type { AnswerRow } from "../read-answer.ts";
import { type DuckDb, type TypedColumn, writeParquet } from "./parquet.ts";

const CRLF = Buffer.from("\r\n");

/** The name of a file in its folder, without its ending: some readers take folders only. */
export const PART = "part-0";

export interface PartFile {
  /** Relative to the folder. */
  path: string;
  rows: number;
  bytes: number;
  /** That of its month in `report.fact_months`; none for a dimension. */
  revision?: string | undefined;
}

/** Where files are written, by what (null: they stay CSV), and where they are to be in the end, for messages. */
export type Target = { folder: string; parquet: DuckDb | null; place: string };

/**
 * Writes the files of one relation, one after the other. Rows go to a CSV file as they come; a complete file is converted to
 * Parquet, while the next one is written. `open` takes a path without its ending; opening the current file again
 * changes nothing. `keep` takes over a file of an earlier export.
 */
export function createPartFiles({ folder, parquet, place }: Target, columns: readonly TypedColumn[]) {
  const files: PartFile[] = [];
  let current: { part: PartFile; name: string; file: FileHandle } | null = null;
  let converted: Promise<void> = Promise.resolve();

  async function finish(): Promise<void> {
    if (current === null) return;
    const { part, name, file } = current;
    current = null;
    if (parquet === null) await file.sync();
    await file.close();
    await converted;
    converted = complete(part, join(folder, `${name}.csv`));
    // Its failure is thrown where it is awaited.
    converted.catch(() => {});
  }

  async function complete(part: PartFile, csvFile: string): Promise<void> {
    const path = join(folder, part.path);
    if (parquet !== null) {
      const written = await writeParquet(parquet, csvFile, path, columns);
      if (written !== part.rows)
        throw new Error(`${part.path} has ${written} rows, though ${part.rows} were given`);
      await rm(csvFile);
      await syncFile(path);
    }
    part.bytes = (await stat(path)).size;
  }

  async function begin(name: string, revision: string | undefined): Promise<void> {
    await finish();
    const path = join(folder, `${name}.csv`);
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "wx");
    const part: PartFile = { path: `${name}.${parquet === null ? "csv" : "parquet"}`, rows: 0, bytes: 0 };
    if (revision !== undefined) part.revision = revision;
    files.push(part);
    current = { part, name, file };
    await file.writeFile(toCsv([columns.map((column) => column.name)], { isExact: true }));
  }

  async function append(rows: number, bytes: string | Buffer): Promise<void> {
    if (current === null) throw new Error("no file is open to be written");
    current.part.rows += rows;
    // Not `write`, which may write a part: nobody would notice a full disk.
    await current.file.writeFile(bytes);
  }

  async function takeOver(file: PartFile, from: string): Promise<void> {
    await finish();
    const path = join(folder, file.path);
    await mkdir(dirname(path), { recursive: true });
    await linkFile(join(from, file.path), path);
    files.push(file);
  }

  // Explained here: further out nobody can tell the disk's errors from the database's.
  const explained = <T>(fn: () => Promise<T>) => withOutputErrors(place, fn);
  return {
    async open(name: string, revision?: string): Promise<void> {
      if (current?.name !== name) await explained(() => begin(name, revision));
    },
    write: (rows: readonly AnswerRow[]): Promise<void> =>
      explained(() => append(rows.length, toCsv(rows, { isExact: true }))),
    /** Rows as Postgres writes them for `copy … (format csv)`, each with its end of line. */
    writeCopied: (rows: readonly Buffer[]): Promise<void> =>
      explained(() => append(rows.length, Buffer.concat(rows.flatMap((row) => [row.subarray(0, -1), CRLF])))),
    keep: (file: PartFile, from: string): Promise<void> => explained(() => takeOver(file, from)),
    async end(): Promise<PartFile[]> {
      await explained(finish);
      await explained(() => converted);
      return files;
    },
    /** Closes the current file after a failure. May be called twice. */
    async close(): Promise<void> {
      const { file } = current ?? {};
      current = null;
      await file?.close();
      await converted.catch(() => {});
    },
  };
}

/** A file is there, with as many bytes as were written. */
export async function isWhole(path: string, bytes: number): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true && found.size === bytes;
}

/** A crash of the machine must not leave a manifest that names files without content. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** File systems that have no second names for a file, or no more of them. */
const NO_LINKS = ["EPERM", "EXDEV", "EMLINK", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"];

/**
 * Gives a file a second name, which costs no space; copies it where the file system cannot. Fails with EEXIST where
 * there is a file of that name.
 */
export async function linkFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
}

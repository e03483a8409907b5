import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toCsv } from "../csv.ts";
import type { AnswerRow } from "../read-answer.ts";
import type { Column, ParquetWriter } from "./parquet.ts";

export interface PartFile {
  /** Relative to the folder. */
  path: string;
  rows: number;
}

export interface PartFilesOptions {
  folder: string;
  /** The columns of the rows, in order. */
  columns: readonly Column[];
  /** null: the files stay CSV. */
  parquet: ParquetWriter | null;
}

/**
 * Writes the files of one relation, one after the other. Rows go to a CSV file as they come; a complete file
 * is converted to Parquet. `open` takes a path without its ending; opening the current file again changes
 * nothing.
 */
export function createPartFiles({ folder, columns, parquet }: PartFilesOptions) {
  const files: PartFile[] = [];
  let current: { name: string; file: FileHandle; rows: number } | null = null;

  async function finish(): Promise<void> {
    if (current === null) return;
    const { name, file, rows } = current;
    current = null;
    await file.close();
    let path = `${name}.csv`;
    if (parquet !== null) {
      const csvFile = join(folder, path);
      path = `${name}.parquet`;
      const written = await parquet.convert(csvFile, join(folder, path), columns);
      if (written !== rows) throw new Error(`${path} has ${written} rows, though ${rows} were given`);
      await rm(csvFile);
    }
    files.push({ path, rows });
  }

  return {
    async open(name: string): Promise<void> {
      if (current?.name === name) return;
      await finish();
      const path = join(folder, `${name}.csv`);
      await mkdir(dirname(path), { recursive: true });
      const file = await open(path, "wx");
      current = { name, file, rows: 0 };
      await file.write(toCsv([columns.map((column) => column.name)], { isExact: true }));
    },
    async write(rows: readonly AnswerRow[]): Promise<void> {
      if (current === null) throw new Error("no file is open to be written");
      current.rows += rows.length;
      await current.file.write(toCsv(rows, { isExact: true }));
    },
    async end(): Promise<PartFile[]> {
      await finish();
      return files;
    },
    /** Closes the current file after a failure. May be called twice. */
    async close(): Promise<void> {
      const { file } = current ?? {};
      current = null;
      await file?.close();
    },
  };
}

import type { AnswerRow } from "../read-answer.ts";
import type { ParquetWriter, TypedColumn } from "./parquet.ts";
import { createPartFiles, PART, type PartFile } from "./part-files.ts";

export interface ExportedRelation {
  rows: number;
  /** Without the column of the partition, which is only in the name of a folder. */
  columns: TypedColumn[];
  /** How many of the files are those of the last export. */
  kept: number;
  files: PartFile[];
}

/** Where files are written, and by what; null: they stay CSV. */
export interface Target {
  folder: string;
  parquet: ParquetWriter | null;
}

/** Writes a folder of one file with the rows of `batches`, also where there are none. */
export async function writeTable(
  { folder, parquet }: Target,
  name: string,
  columns: TypedColumn[],
  batches: Iterable<AnswerRow[]> | AsyncIterable<AnswerRow[]>,
): Promise<ExportedRelation> {
  const parts = createPartFiles({ folder, columns, parquet });
  try {
    await parts.open(`${name}/${PART}`);
    for await (const rows of batches) await parts.write(rows);
    const files = await parts.end();
    return { rows: files.reduce((sum, { rows }) => sum + rows, 0), columns, kept: 0, files };
  } finally {
    await parts.close();
  }
}

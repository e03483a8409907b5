import type { AnswerRow } from "../read-answer.ts";
import type { TypedColumn } from "./parquet.ts";
import { createPartFiles, PART, type PartFile, type Target } from "./part-files.ts";

export interface ExportedRelation {
  rows: number;
  /** Without the column of the partition, which is only in the name of a folder. */
  columns: TypedColumn[];
  /** How many of the files are those of the last export. */
  kept: number;
  files: PartFile[];
}

/** Writes a folder of one file with the rows of `batches`, also where there are none. */
export async function writeTable(
  target: Target,
  name: string,
  columns: TypedColumn[],
  batches: Iterable<AnswerRow[]> | AsyncIterable<AnswerRow[]>,
): Promise<ExportedRelation> {
  const parts = createPartFiles(target, columns);
  try {
    await parts.open(`${name}/${PART}`);
    for await (const rows of batches) await parts.write(rows);
    const files = await parts.end();
    return { rows: files.reduce((sum, { rows }) => sum + rows, 0), columns, kept: 0, files };
  } finally {
    await parts.close();
  }
}

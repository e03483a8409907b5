import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sql, TransactionSql } from "../../db/connect.ts";
import type { Relation } from "../../db/report-dictionary.ts";
import { askFor, type Filters } from "../question.ts";
import { type AnswerRow, asIso, readAnswer, withSnapshot } from "../read-answer.ts";
import { type Column, createParquetWriter, type ParquetWriter } from "./parquet.ts";
import { createPartFiles, type PartFile } from "./part-files.ts";
import { MARKER, withStagingFolder } from "./staging-folder.ts";

export const EXPORT_FORMATS = ["parquet", "csv"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const FACT = "fact_builds";
const DIMENSIONS = ["dim_projects", "dim_versions", "dim_dates"] as const satisfies Relation[];
const PARTITION = "triggered_month";
/** What Hive, and so every reader of such folders, calls the partition of null. */
const NO_MONTH = "__HIVE_DEFAULT_PARTITION__";
const BATCH_ROWS = 5000;

export interface ExportOptions {
  sql: Sql;
  /** Replaced whole when an export made it; made where it is missing. */
  folder: string;
  format: ExportFormat;
  /** Narrow the builds, not the dimensions (`readTimeBounds`). */
  since?: string | undefined;
  until?: string | undefined;
  /** Ends it within a moment; the folder is as it was then. */
  signal: AbortSignal;
}

export interface ExportedRelation {
  rows: number;
  /** That of a partition stands in the name of its folder alone. */
  columns: Column[];
  files: PartFile[];
}

/** What an export says of itself in `_docmirror.json`. */
export interface ExportFacts {
  made_by: "docmirror export";
  format: ExportFormat;
  exported_at: string;
  /** When the answers were computed that are in it. */
  refreshed_at: string | null;
  /** The last run that had ended by then. */
  run_id: number | null;
  /** Whatever happened to builds upstream before is in it; null where that is not known. */
  current_through: string | null;
  since: string | null;
  until: string | null;
  relations: Record<string, ExportedRelation>;
}

/**
 * Writes the builds, a folder for each month, and the dimensions, one file each, as they are at one moment. Memory does not grow with the
 * rows; of the disk it needs, for a while, the CSV of the largest month more. Throws ConfigError, StoreError, or the signal's reason.
 */
export async function exportReport(options: ExportOptions): Promise<ExportFacts> {
  const { sql, folder, format, since, until, signal } = options;
  const parquet = format === "parquet" ? await createParquetWriter(signal) : null;
  const own = [
    FACT,
    ...DIMENSIONS.flatMap((relation) => EXPORT_FORMATS.map((ending) => `${relation}.${ending}`)),
  ];
  try {
    return await withStagingFolder(folder, own, (aside) =>
      withSnapshot(sql, async (tx) => {
        const facts: ExportFacts = {
          made_by: "docmirror export",
          format,
          ...(await findMoment(tx)),
          since: since ?? null,
          until: until ?? null,
          relations: {
            [FACT]: await writeRelation({
              tx,
              aside,
              relation: FACT,
              filters: { since, until },
              parquet,
              signal,
            }),
          },
        };
        for (const relation of DIMENSIONS) {
          facts.relations[relation] = await writeRelation({
            tx,
            aside,
            relation,
            filters: {},
            parquet,
            signal,
          });
        }
        await writeFile(join(aside, MARKER), `${JSON.stringify(facts, null, 2)}\n`);
        return facts;
      }),
    );
  } finally {
    parquet?.close();
  }
}

interface Writing {
  tx: TransactionSql;
  aside: string;
  relation: Relation;
  filters: Filters;
  parquet: ParquetWriter | null;
  signal: AbortSignal;
}

async function writeRelation({
  tx,
  aside,
  relation,
  filters,
  parquet,
  signal,
}: Writing): Promise<ExportedRelation> {
  const question = askFor(relation, filters);
  const place = relation === FACT ? question.columns.indexOf(PARTITION) : -1;
  const isKept = (_: unknown, index: number) => index !== place;
  const columns = (await findColumns(tx, relation)).filter(isKept);
  const parts = createPartFiles({ folder: aside, columns, parquet });
  try {
    if (place < 0) await parts.open(relation);
    else await mkdir(join(aside, relation));
    for await (const rows of readAnswer(tx, question, { signal, batchRows: BATCH_ROWS })) {
      // They come by time, so those of a month stand together.
      for (const part of place < 0 ? [rows] : byMonth(rows, place)) {
        if (place >= 0) await parts.open(`${relation}/${PARTITION}=${part[0]?.[place] ?? NO_MONTH}/part-0`);
        await parts.write(part.map((row) => row.filter(isKept)));
      }
    }
    const files = await parts.end();
    return { rows: files.reduce((sum, { rows }) => sum + rows, 0), columns, files };
  } finally {
    await parts.close();
  }
}

function byMonth(rows: readonly AnswerRow[], place: number): AnswerRow[][] {
  const parts: AnswerRow[][] = [];
  for (const row of rows) {
    const last = parts.at(-1);
    if (last?.[0]?.[place] === row[place]) last?.push(row);
    else parts.push([row]);
  }
  return parts;
}

function findColumns(tx: TransactionSql, relation: Relation): Promise<Column[]> {
  return tx<Column[]>`
    select column_name as name, data_type as type from report.data_dictionary where relation = ${relation} order by position`;
}

type Moment = Pick<ExportFacts, "exported_at" | "refreshed_at" | "run_id" | "current_through">;

async function findMoment(tx: TransactionSql): Promise<Moment> {
  const [moment] = await tx<Moment[]>`
    select now() as exported_at, refreshed_at,
           (select max(run_id) from report.runs where finished_at <= refreshed_at) as run_id,
           -- A role that only reads may find answers that are older than the last walk.
           case when last_good_at <= refreshed_at then current_through end as current_through
    from report.freshness where resource = 'build'`;
  if (moment === undefined) throw new Error("report.freshness has no row for builds");
  const { exported_at, refreshed_at, run_id, current_through } = moment;
  return {
    exported_at: asIso(exported_at),
    refreshed_at: refreshed_at && asIso(refreshed_at),
    run_id,
    current_through: current_through && asIso(current_through),
  };
}

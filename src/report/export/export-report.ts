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
/** Hive's name for the partition of null, which every reader of such folders knows. */
const NO_MONTH = "__HIVE_DEFAULT_PARTITION__";
const BATCH_ROWS = 5000;

export interface ExportOptions {
  sql: Sql;
  /** Replaced when an export made it; created where it is missing. */
  folder: string;
  format: ExportFormat;
  /** Narrow the builds, not the dimensions (`readTimeBounds`). */
  since?: string | undefined;
  until?: string | undefined;
  /** Stops the export soon; the folder then stays as it was. */
  signal: AbortSignal;
}

export interface ExportedRelation {
  rows: number;
  /** Without the column of the partition, which is only in the name of a folder. */
  columns: Column[];
  files: PartFile[];
}

/** The content of `_docmirror.json` in an export. */
export interface ExportFacts {
  made_by: "docmirror export";
  format: ExportFormat;
  exported_at: string;
  /** When its answers were computed. */
  refreshed_at: string | null;
  /** The last run that had ended by then. */
  run_id: number | null;
  /**
   * Everything that happened to builds upstream before this moment is in it; null where that is not known.
   */
  current_through: string | null;
  since: string | null;
  until: string | null;
  relations: Record<string, ExportedRelation>;
}

/**
 * Writes the builds, a folder for each month, and the dimensions, one file each, as they are at one moment.
 * Memory does not grow with the rows. The disk also needs room for the CSV of the largest month. Throws
 * ConfigError, StoreError, or the signal's reason.
 */
export async function exportReport(options: ExportOptions): Promise<ExportFacts> {
  const { sql, folder, format, since, until, signal } = options;
  const parquet = format === "parquet" ? await createParquetWriter(signal) : null;
  const own = [
    FACT,
    ...DIMENSIONS.flatMap((relation) => EXPORT_FORMATS.map((ending) => `${relation}.${ending}`)),
  ];
  try {
    return await withStagingFolder(folder, own, (staging) =>
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
              staging,
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
            staging,
            relation,
            filters: {},
            parquet,
            signal,
          });
        }
        await writeFile(join(staging, MARKER), `${JSON.stringify(facts, null, 2)}\n`);
        return facts;
      }),
    );
  } finally {
    parquet?.close();
  }
}

interface Writing {
  tx: TransactionSql;
  staging: string;
  relation: Relation;
  filters: Filters;
  parquet: ParquetWriter | null;
  signal: AbortSignal;
}

async function writeRelation({
  tx,
  staging,
  relation,
  filters,
  parquet,
  signal,
}: Writing): Promise<ExportedRelation> {
  const question = askFor(relation, filters);
  const place = relation === FACT ? question.columns.indexOf(PARTITION) : -1;
  const isKept = (_: unknown, index: number) => index !== place;
  const columns = (await findColumns(tx, relation)).filter(isKept);
  const parts = createPartFiles({ folder: staging, columns, parquet });
  try {
    if (place < 0) await parts.open(relation);
    else await mkdir(join(staging, relation));
    for await (const rows of readAnswer(tx, question, { signal, batchRows: BATCH_ROWS })) {
      // Rows come by time, so those of a month are together.
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
           -- With a role that only reads, the answers may be older than the last walk.
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

import { MirrorError, withOutputErrors } from "../../base/errors.ts";
import { readVersion } from "../../base/version.ts";
import { abortable, type Sql, statement, type TransactionSql } from "../../store/connection/sql.ts";
import { askFor } from "../ask.ts";
import { type ColumnOf, columnsOf, type Relation } from "../dictionary.ts";
import { readAnswer, withIsoMoments, withSnapshot } from "../read-answer.ts";
import { openDuckDb, type TypedColumn } from "./parquet.ts";
import type { Target } from "./part-files.ts";
import { withStagingFolder, writeMarker } from "./staging-folder.ts";
import {
  type ExportedRelation,
  type ExportForm,
  FACT,
  FACT_COLUMNS,
  findRevisions,
  LAYOUT,
  MONTHS,
  MONTHS_COLUMNS,
  monthsRows,
  readLastExport,
  writeMonths,
  writeTable,
} from "./write-months.ts";

const FIND_AS_OF = statement<AsOf>("as_of", import.meta.url);

/** The relation of one row that says as of when an export is. */
const AS_OF = "as_of";
const MOMENT = "timestamp with time zone";

const AS_OF_TYPES = {
  /** The newest run that is in the answers; null where no run had ended. */
  run_id: "bigint",
  exported_at: MOMENT,
  /** The UTC day of `exported_at`: the last one of a calendar of what has happened. */
  exported_on: "date",
  /** When its answers were computed. */
  refreshed_at: MOMENT,
  /** Everything that happened to builds upstream before this moment is in it; null where that is not known. */
  current_through: MOMENT,
  /** As in `report.freshness`: days before this one are over and read, this one has begun. */
  covered_through: MOMENT,
  covered_on: "date",
} as const;

type AsOf = Record<Exclude<keyof typeof AS_OF_TYPES, "run_id">, string | null> & { run_id: number | null };

/** The moment that this transaction shows. It waits while a table of the reports is locked. */
async function findAsOf(tx: TransactionSql, signal: AbortSignal): Promise<AsOf> {
  const [found] = await abortable(FIND_AS_OF(tx), signal);
  if (found === undefined) throw new Error("report.freshness has no row for builds");
  return withIsoMoments(found);
}

export const EXPORT_FORMATS = ["parquet", "csv"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const DIMENSIONS = ["dim_projects", "dim_versions", "dim_dates"] as const satisfies Relation[];
const RELATIONS = [FACT, MONTHS, ...DIMENSIONS, AS_OF];
const BATCH_ROWS = 5000;

export interface ExportOptions {
  sql: Sql;
  /** Replaced when an export made it; created where it is missing. */
  folder: string;
  format: ExportFormat;
  /** Narrow the builds, not the dimensions (`readTimeBounds`). */
  since?: string | undefined;
  until?: string | undefined;
  /** Keeps the files of months that have not changed. The folder has the same rows either way. @default false */
  incremental?: boolean | undefined;
  /** Stops the export soon; the folder then stays as it was. */
  signal: AbortSignal;
}

/** The content of `_docmirror.json` in an export. */
export interface ExportFacts extends AsOf, ExportForm {
  made_by: "docmirror export";
  /** Why an incremental export could keep no file of the last one; null where it could, or was not asked to. */
  full_because: string | null;
  relations: Record<string, ExportedRelation>;
}

/**
 * Writes the builds, a folder for each month, the revisions of the months, the dimensions with all names, a folder each,
 * and as of when that is, as they are at one moment. Memory does not grow with the rows. The disk also needs room for the CSV of two
 * months. Throws ConfigError, StoreError, or the signal's reason.
 */
export async function exportReport(options: ExportOptions): Promise<ExportFacts> {
  const { sql, folder, format, since, until, incremental = false, signal } = options;
  const parquet = format === "parquet" ? await openDuckDb(signal) : null;
  try {
    return await withStagingFolder(folder, RELATIONS, (staging, old) =>
      withSnapshot(sql, async (tx) => {
        const asOf = await findAsOf(tx, signal);
        // A hash of the view of the facts, as this database has it. It waits while a table of the view is locked.
        const defined = tx<{ definition: string }[]>`
          select md5(pg_get_viewdef('report.fact_builds'::regclass)) as definition`;
        const [{ definition = "" } = {}] = await abortable(defined, signal);
        const bounds = { since: since ?? null, until: until ?? null };
        const form: ExportForm = { layout: LAYOUT, format, ...bounds, version: readVersion(), definition };
        const last = incremental ? await readLastExport(old, form) : null;
        const target: Target = { folder: staging, parquet, place: folder };
        const dimension = async (relation: (typeof DIMENSIONS)[number]) => {
          const rows = readAnswer(tx, askFor(relation), { signal, batchRows: BATCH_ROWS });
          return writeTable(target, relation, await findColumns(tx, relation), rows);
        };
        const revisions = await findRevisions(tx);
        const builds = await writeMonths({
          tx,
          target,
          columns: await findColumns(tx, FACT, FACT_COLUMNS),
          revisions,
          filters: { since, until },
          last: last !== null && "find" in last ? last : null,
          ending: format,
          signal,
        });
        const isWhole = since === undefined && until === undefined;
        if (incremental && isWhole) await assertWhole(tx, builds.rows, signal);
        const facts: ExportFacts = {
          made_by: "docmirror export",
          ...form,
          ...asOf,
          full_because: last !== null && "reason" in last ? last.reason : null,
          relations: {
            [FACT]: builds,
            [MONTHS]: await writeTable(target, MONTHS, MONTHS_COLUMNS, [monthsRows(revisions, isWhole)]),
            dim_projects: await dimension("dim_projects"),
            dim_versions: await dimension("dim_versions"),
            dim_dates: await dimension("dim_dates"),
            [AS_OF]: await writeTable(
              target,
              AS_OF,
              Object.entries(AS_OF_TYPES).map(([name, type]) => ({ name, type })),
              [[Object.keys(AS_OF_TYPES).map((name) => asOf[name as keyof AsOf])]],
            ),
          },
        };
        await withOutputErrors(folder, () => writeMarker(staging, facts));
        return facts;
      }),
    );
  } finally {
    parquet?.close();
  }
}

/** Those that a question asks for, in its order: a table may have more. */
function findColumns<R extends Relation>(
  tx: TransactionSql,
  relation: R,
  names: ColumnOf<R>[] = columnsOf(relation),
): Promise<TypedColumn[]> {
  return tx<TypedColumn[]>`
    select column_name as name, data_type as type from report.data_dictionary
    where relation = ${relation} and column_name = any(${names}) order by array_position(${names}, column_name)`;
}

/** The counts of another answer prove that no month was overlooked. */
async function assertWhole(tx: TransactionSql, exported: number, signal: AbortSignal): Promise<void> {
  const counted = tx<{ builds: number }[]>`
    select coalesce(sum(builds), 0)::float8 as builds from report.success_rate_by_type`;
  const [row] = await abortable(counted, signal);
  if (row?.builds === exported) return;
  throw new MirrorError(`the months have ${exported} builds, and the reports count ${row?.builds}`, {
    hint: "export once without --incremental, and report this as a bug",
  });
}

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type SQL, sql } from "drizzle-orm";
import { abortable } from "../../store/connection/abortable.ts";
import { copyOut } from "../../store/connection/copy.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askFor } from "../ask.ts";
import { type ColumnOf, columnsOf, type Relation } from "../dictionary.ts";
import type { AnswerFilters } from "../question.ts";
import { relation } from "../relation.ts";
import type { KeptFiles } from "./last-export.ts";
import { nameOfMonth, type Revisions } from "./months.ts";
import type { TypedColumn } from "./parquet.ts";
import { createPartFiles, PART, type Target } from "./part-files.ts";
import type { ExportedRelation } from "./write-table.ts";

export const FACT = "fact_builds" satisfies Relation;
const fact = relation(FACT);
const PARTITION = "triggered_month";
/** What changes with a dimension: files have it there alone, so that they stay. */
const LEFT_OUT: readonly ColumnOf<typeof FACT>[] = [
  ...(["project_slug", "project_name", "version_slug", "version_name"] as const),
  ...(["is_main", "updated_at"] as const),
];
export const FACT_COLUMNS = columnsOf(FACT).filter((column) => !LEFT_OUT.includes(column));

export interface MonthsOptions {
  tx: TransactionSql;
  target: Target;
  /** Those of `FACT_COLUMNS`. */
  columns: readonly TypedColumn[];
  revisions: Revisions;
  filters: AnswerFilters;
  /** The export whose files of unchanged months are kept; null: every month is written. */
  last: KeptFiles | null;
  /** Of the files' names. */
  ending: string;
  signal: AbortSignal;
}

/** Writes the builds, a folder for each month. */
export async function writeMonths(options: MonthsOptions): Promise<ExportedRelation> {
  const { tx, target, revisions, filters, last, ending, signal } = options;
  const stored = options.columns.filter(({ name }) => name !== PARTITION);
  const columns = stored.map(({ name, type }) => ({
    name: name === "fact_updated_at" ? "updated_at" : name,
    type,
  }));
  const parts = createPartFiles(target, columns);
  let kept = 0;

  async function write(month: string | null): Promise<void> {
    const { readable } = askFor(FACT, filters, within(month), undefined, FACT_COLUMNS);
    // What `copy` calls a boolean and a moment DuckDB reads too; a CSV that stays has them as all our CSV.
    const list = stored.map((column) => (target.parquet === null ? asCsv(column) : column.name)).join(", ");
    // `copy` takes no values beside its text, and keeps the order of its query.
    const copy = `copy (select ${list} from (${readable.slice(0, -2)}) as build) to stdout (format csv)`;
    await copyOut(
      tx,
      copy,
      async (rows) => {
        await parts.open(nameOf(month), revisions.get(month));
        await parts.writeCopied(rows);
      },
      signal,
    );
  }

  try {
    await mkdir(join(target.folder, FACT));
    for (const month of last === null ? await findMonths(tx, signal) : revisions.keys()) {
      signal.throwIfAborted();
      const file = await last?.find(`${nameOf(month)}.${ending}`);
      if (last && file && file.revision === revisions.get(month)) {
        await parts.keep(file, last.folder);
        kept++;
      } else await write(month);
    }
    const files = await parts.end();
    return { rows: files.reduce((sum, { rows }) => sum + rows, 0), columns, kept, files };
  } finally {
    await parts.close();
  }
}

/** From the facts themselves, newest first: a full export does not count on what the triggers noted. */
async function findMonths(tx: TransactionSql, signal: AbortSignal): Promise<(string | null)[]> {
  const rows = await abortable(
    tx<{ month: string | null }[]>`
      select distinct triggered_month as month from report.fact_builds order by month desc nulls last`,
    signal,
  );
  return rows.map(({ month }) => month);
}

const nameOf = (month: string | null): string => `${FACT}/${PARTITION}=${nameOfMonth(month)}/${PART}`;

/** The text of a column as `toCsv` writes its values, for a session in UTC. */
function asCsv({ name, type }: TypedColumn): string {
  if (type === "boolean") return `${name}::text`;
  return type.startsWith("timestamp")
    ? `regexp_replace(${name}::text, '^(\\S+) (\\S+)\\+00$', '\\1T\\2Z')`
    : name;
}

/** By the day, which has an index. */
function within(month: string | null): SQL[] {
  if (month === null) return [sql`${fact.triggered_on} is null`];
  const first = sql`${`${month}-01`}::date`;
  return [
    sql`${fact.triggered_on} >= ${first}`,
    sql`${fact.triggered_on} < (${first} + interval '1 month')::date`,
  ];
}

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type SQL, sql } from "drizzle-orm";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askFor } from "../ask.ts";
import { type ColumnOf, columnsOf, type Relation } from "../dictionary.ts";
import type { AnswerFilters } from "../question.ts";
import { type AnswerRow, readAnswer } from "../read-answer.ts";
import { relation } from "../relation.ts";
import type { KeptFiles } from "./last-export.ts";
import { nameOfMonth, type Revisions } from "./months.ts";
import type { TypedColumn } from "./parquet.ts";
import { createPartFiles, PART, type Target } from "./part-files.ts";
import type { ExportedRelation } from "./write-table.ts";

export const FACT = "fact_builds" satisfies Relation;
const fact = relation(FACT);
const PARTITION = "triggered_month";
/** What a new name changes: files have it in the dimensions alone, so that they stay. And what has a newer name beside it. */
const LEFT_OUT: readonly ColumnOf<typeof FACT>[] = [
  ...(["project_slug", "project_name", "version_slug", "version_name"] as const),
  ...(["updated_at", "output_excerpt"] as const),
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
  batchRows: number;
  signal: AbortSignal;
}

/** Writes the builds, a folder for each month. */
export async function writeMonths(options: MonthsOptions): Promise<ExportedRelation> {
  const { tx, target, revisions, filters, last, ending, batchRows, signal } = options;
  const columns = options.columns
    .filter(({ name }) => name !== PARTITION)
    .map(({ name, type }) => ({ name: name === "fact_updated_at" ? "updated_at" : name, type }));
  const parts = createPartFiles(target, columns);
  let kept = 0;

  async function write(month?: string | null): Promise<void> {
    const question = askFor(FACT, filters, month === undefined ? [] : within(month), undefined, FACT_COLUMNS);
    const place = question.columns.indexOf(PARTITION);
    for await (const rows of readAnswer(tx, question, { signal, batchRows })) {
      // Rows come by time, so those of a month are together.
      for (const part of byMonth(rows, place)) {
        const found = part[0]?.[place] as string | null;
        await parts.open(nameOf(found), revisions.get(found));
        await parts.write(part.map((row) => row.filter((_, index) => index !== place)));
      }
    }
  }

  try {
    await mkdir(join(target.folder, FACT));
    if (last === null) await write();
    else {
      for (const [month, revision] of revisions) {
        signal.throwIfAborted();
        const file = await last.find(`${nameOf(month)}.${ending}`);
        if (file?.revision !== revision) {
          await write(month);
          continue;
        }
        await parts.keep(file, last.folder);
        kept++;
      }
    }
    const files = await parts.end();
    return { rows: files.reduce((sum, { rows }) => sum + rows, 0), columns, kept, files };
  } finally {
    await parts.close();
  }
}

const nameOf = (month: string | null): string => `${FACT}/${PARTITION}=${nameOfMonth(month)}/${PART}`;

/** By the day, which has an index. */
function within(month: string | null): SQL[] {
  if (month === null) return [sql`${fact.triggered_on} is null`];
  const first = sql`${`${month}-01`}::date`;
  return [
    sql`${fact.triggered_on} >= ${first}`,
    sql`${fact.triggered_on} < (${first} + interval '1 month')::date`,
  ];
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

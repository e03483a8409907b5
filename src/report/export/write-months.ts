import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type SQL, sql } from "drizzle-orm";
import { runText } from "../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askFor } from "../ask.ts";
import type { Relation } from "../dictionary.ts";
import type { AnswerFilters } from "../question.ts";
import { type AnswerRow, readAnswer } from "../read-answer.ts";
import { relation } from "../relation.ts";
import type { KeptFiles } from "./last-export.ts";
import type { TypedColumn } from "./parquet.ts";
import { createPartFiles, PART, type Target } from "./part-files.ts";
import type { ExportedRelation } from "./write-table.ts";

export const FACT = "fact_builds" satisfies Relation;
const fact = relation(FACT);
const PARTITION = "triggered_month";
/** Hive's own name for the partition of null is an error to some readers, and a text like any other to more. */
const UNDATED = "undated";

export interface MonthsOptions {
  tx: TransactionSql;
  target: Target;
  /** All columns of the relation. */
  columns: readonly TypedColumn[];
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
  const { tx, target, filters, last, ending, batchRows, signal } = options;
  const columns = options.columns.filter(({ name }) => name !== PARTITION);
  const revisions = await findRevisions(tx);
  const parts = createPartFiles(target, columns);
  let kept = 0;

  async function write(month?: string | null): Promise<void> {
    const question = askFor(FACT, filters, month === undefined ? [] : within(month));
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

/** Newest first, as the builds come. */
async function findRevisions(tx: TransactionSql): Promise<Map<string | null, string>> {
  const { text, params } = askFor("fact_months");
  // Text of `askFor`.
  const rows = await runText<{ month: string | null; revision: string }>(tx, text, params);
  return new Map(rows.map(({ month, revision }) => [month, revision]));
}

const nameOf = (month: string | null): string => `${FACT}/${PARTITION}=${month ?? UNDATED}/${PART}`;

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

import { runText } from "../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askFor } from "../ask.ts";
import type { Relation } from "../dictionary.ts";
import type { AnswerCell } from "../read-answer.ts";
import type { TypedColumn } from "./parquet.ts";

/** The relation of the months of the facts. */
export const MONTHS = "fact_months" satisfies Relation;

/** The revision of each month, newest first, as the builds come; null is the month of those without a date. */
export type Revisions = ReadonlyMap<string | null, string>;

export const MONTHS_COLUMNS: TypedColumn[] = [
  { name: "month", type: "text" },
  { name: "revision", type: "text" },
];

/** The values of `MONTHS_COLUMNS`. An export of some days has other facts than the revision stands for, so it names none. */
export function monthsRows(revisions: Revisions, isWhole: boolean): AnswerCell[][] {
  return [...revisions].map(([month, revision]) => [nameOfMonth(month), isWhole ? revision : null]);
}

/** The name of a month's folder. Hive's own for null is an error to some readers, and a text like any other to more. */
export const nameOfMonth = (month: string | null): string => month ?? "undated";

export async function findRevisions(tx: TransactionSql): Promise<Revisions> {
  const { text, params } = askFor(MONTHS);
  // Text of `askFor`.
  const rows = await runText<{ month: string | null; revision: string }>(tx, text, params);
  return new Map(rows.map(({ month, revision }) => [month, revision]));
}

import { abortable } from "../../store/connection/abortable.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type AnswerCell, asIso } from "../read-answer.ts";
import type { TypedColumn } from "./parquet.ts";

/** The relation of one row that says as of when an export is. */
export const AS_OF = "as_of";

export interface AsOf {
  /** The newest run that is in the answers; null where no run had ended. */
  run_id: number | null;
  exported_at: string;
  /** The UTC day of `exported_at`: the last one of a calendar of what has happened. */
  exported_on: string;
  /** When its answers were computed. */
  refreshed_at: string | null;
  /** Everything that happened to builds upstream before this moment is in it; null where that is not known. */
  current_through: string | null;
  /** As in `report.freshness`: days before this one are over and read, this one has begun. */
  covered_through: string | null;
  covered_on: string | null;
}

export const AS_OF_COLUMNS: TypedColumn[] = [
  { name: "run_id", type: "bigint" },
  { name: "exported_at", type: "timestamp with time zone" },
  { name: "exported_on", type: "date" },
  { name: "refreshed_at", type: "timestamp with time zone" },
  { name: "current_through", type: "timestamp with time zone" },
  { name: "covered_through", type: "timestamp with time zone" },
  { name: "covered_on", type: "date" },
];

/** The values of `AS_OF_COLUMNS`. */
export function asOfRow(asOf: AsOf): AnswerCell[] {
  return AS_OF_COLUMNS.map(({ name }) => asOf[name as keyof AsOf]);
}

/** The moment that this transaction shows. It waits while a table of the reports is locked. */
export async function findAsOf(tx: TransactionSql, signal: AbortSignal): Promise<AsOf> {
  const asked = tx<AsOf[]>`
    select nullif(refreshed_run_id, 0)::float8 as run_id,
           now() as exported_at, (now() at time zone 'UTC')::date::text as exported_on, refreshed_at,
           -- With a role that only reads, the answers may be older than the last walk.
           case when last_good_at <= refreshed_at then current_through end as current_through,
           covered_through, (covered_through at time zone 'UTC')::date::text as covered_on
    from report.freshness where resource = 'build'`;
  const [found] = await abortable(asked, signal);
  if (found === undefined) throw new Error("report.freshness has no row for builds");
  return {
    ...found,
    exported_at: asIso(found.exported_at),
    refreshed_at: found.refreshed_at && asIso(found.refreshed_at),
    current_through: found.current_through && asIso(found.current_through),
    covered_through: found.covered_through && asIso(found.covered_through),
  };
}

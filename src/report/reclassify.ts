import { abortable } from "../db/abortable.ts";
import type { Sql } from "../db/connect.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { type RefreshOptions, refreshReport } from "./refresh.ts";

export interface ClassCount {
  class: string;
  /** Failures that were called so, and that are by the rules of now. */
  before: number;
  after: number;
}

export interface ReclassifyOptions extends Omit<RefreshOptions, "reclassify" | "keepsSettings"> {
  sql: Sql;
  /** Of the same database. */
  url: string;
  /** Count, change nothing. */
  isDry: boolean;
}

/** Applies the rules of `report.error_rules` to all failures that are stored. Gives every class that any had or has. Safe to repeat. */
export async function reclassify({ sql, url, isDry, ...options }: ReclassifyOptions): Promise<ClassCount[]> {
  const before = await countClasses(sql, "error_class", options.signal);
  if (!isDry) await refreshReport(url, { ...options, keepsSettings: true, reclassify: true });
  const after = await countClasses(sql, isDry ? CLASS_OF_NOW : "error_class", options.signal);
  const classes = [...new Set([...after.keys(), ...before.keys()])];
  return classes.map((name) => ({ class: name, before: before.get(name) ?? 0, after: after.get(name) ?? 0 }));
}

/** The excerpt is the line that rules are held against. */
const CLASS_OF_NOW = "(rollup.describe_error(coalesce(output_excerpt, ''))).error_class";

/** The most frequent first. Equal lines are classified once. */
async function countClasses(sql: Sql, classOf: string, signal: AbortSignal | undefined) {
  const rows = await withStoreErrors("classify failures by report.error_rules", () =>
    abortable(
      sql.unsafe<{ class: string; failures: number }[]>(`
        select ${classOf} as class, sum(failures)::bigint as failures
        from (
          select output_excerpt, error_class, count(*) as failures from rollup.builds where failed = 1 group by 1, 2
        ) as line
        group by 1 order by 2 desc, 1`),
      signal,
    ),
  );
  return new Map(rows.map((row) => [row.class, row.failures]));
}

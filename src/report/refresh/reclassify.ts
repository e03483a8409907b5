import type { SQL } from "drizzle-orm";
import { SchemaVersionError } from "../../base/errors.ts";
import { abortable, compose, nameOf, runStatement, type Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { rollupBuilds } from "../stored/answers.ts";
import { type RefreshOptions, refreshReport } from "./refresh.ts";

/** The failures of a class, as stored before and by the current rules. */
type ClassCount = { class: string; before: number; after: number };

interface ReclassifyOptions extends RefreshOptions {
  sql: Sql;
  /** Only counts. */
  isDry: boolean;
}

/**
 * Applies the rules of `report.error_rules` to all stored failures, or only counts where `isDry`. Returns every class that any of them
 * had or has. Safe to repeat. Throws SchemaVersionError where a later version defined the reports.
 */
export async function reclassify(given: ReclassifyOptions): Promise<ClassCount[]> {
  const { sql, isDry, ...options } = given;
  const before = await countClasses(sql, STORED_CLASS, options.signal);
  if (!isDry) {
    const { isLeft } = await refreshReport(sql, { ...options, keepsSettings: true, reclassify: true });
    if (isLeft)
      throw new SchemaVersionError("could not classify failures: a later version defined the reports", {
        hint: "run `docmirror reclassify` of that version",
      });
  }
  const after = await countClasses(sql, isDry ? CURRENT_CLASS : STORED_CLASS, options.signal);
  const classes = [...new Set([...after.keys(), ...before.keys()])];
  return classes.map((name) => ({ class: name, before: before.get(name) ?? 0, after: after.get(name) ?? 0 }));
}

const { error_line, error_class, failed } = rollupBuilds;
const STORED_CLASS = compose`line.${nameOf(error_class)}`;
/** The rules are matched against the excerpt. */
const CURRENT_CLASS = compose`(rollup.describe_line(coalesce(line.${nameOf(error_line)}, ''))).error_class`;

/** The most frequent first. Equal lines are classified once. */
async function countClasses(sql: Sql, classOf: SQL, signal: AbortSignal | undefined) {
  const statement = compose`
    select ${classOf} as class, sum(failures)::bigint as failures
    from (
      select ${error_line}, ${error_class}, count(*) as failures from ${rollupBuilds}
      where ${failed} = 1 group by 1, 2
    ) as line
    group by 1 order by 2 desc, 1`;
  const rows = await withStoreErrors("classify failures by report.error_rules", () =>
    abortable(runStatement<{ class: string; failures: number }>(sql, statement), signal),
  );
  return new Map(rows.map((row) => [row.class, row.failures]));
}

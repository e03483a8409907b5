import { SchemaVersionError } from "../../base/errors.ts";
import { abortable, type Sql, statement } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { type RefreshOptions, refreshReport } from "./refresh.ts";

const COUNT_CLASSES = statement<{ class: string; failures: number }>("count_classes", import.meta.url);

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
  const before = await countClasses(sql, false, options.signal);
  if (!isDry) {
    const { isLeft } = await refreshReport(sql, { ...options, keepsSettings: true, reclassify: true });
    if (isLeft)
      throw new SchemaVersionError("could not classify failures: a later version defined the reports", {
        hint: "run `docmirror reclassify` of that version",
      });
  }
  const after = await countClasses(sql, isDry, options.signal);
  const classes = [...new Set([...after.keys(), ...before.keys()])];
  return classes.map((name) => ({ class: name, before: before.get(name) ?? 0, after: after.get(name) ?? 0 }));
}

/** By the current rules, or as stored. */
async function countClasses(sql: Sql, byRules: boolean, signal: AbortSignal | undefined) {
  const rows = await withStoreErrors("classify failures by report.error_rules", () =>
    abortable(COUNT_CLASSES(sql, { byRules }), signal),
  );
  return new Map(rows.map((row) => [row.class, row.failures]));
}

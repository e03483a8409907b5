import { integer, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, moment } from "../../store/schema/columns.ts";
import { rollup } from "../../store/schema/schemas.ts";
import { affected, stored } from "../declare-stored.ts";

/** The failures of a project that look alike. What all projects have of them is a cheap sum. */
export const errors = rollup.table(
  "errors",
  {
    error_class: text().notNull(),
    error_fingerprint: text().notNull(),
    failures: integer().notNull(),
    /** 1; 0 for builds without a project. */
    projects: integer().notNull(),
    first_triggered_at: moment(),
    last_triggered_at: moment(),
    last_build_id: idText().notNull(),
    project_id: idText().notNull(),
    error_line_id: text().notNull().default(""),
    masked_line: text(),
  },
  (table) => [
    primaryKey({
      name: "errors_key",
      columns: [table.error_fingerprint, table.project_id, table.error_class, table.error_line_id],
    }),
  ],
);

export const ERRORS = stored(errors, affected("error_fingerprint", "project_id"));

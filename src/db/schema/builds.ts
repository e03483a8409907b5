import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { bookkeeping, idText, localTimestamp, moment } from "./columns.ts";
import { projects } from "./projects.ts";
import { mirror } from "./schemas.ts";
import { versions } from "./versions.ts";

export const builds = mirror.table(
  "builds",
  {
    id: idText().primaryKey(),
    resource_uri: text(),
    date: localTimestamp(),
    state: text(),
    success: boolean(),
    type: text(),
    project_uri: text(),
    version_uri: text(),
    project_id: idText().references(() => projects.id),
    version_id: idText().references(() => versions.id),
    ...bookkeeping(),
  },
  (table) => [
    index("builds_project_id").on(table.project_id),
    index("builds_version_id").on(table.version_id),
    index("builds_open").on(table.id).where(sql`state is distinct from 'finished' and deleted_at is null`),
  ],
);

/** A build's wide texts, apart from the fact so that scans of builds stay narrow. */
export const buildLogs = mirror.table("build_logs", {
  build_id: idText()
    .primaryKey()
    .references(() => builds.id),
  output: text(),
  error: text(),
  setup: text(),
  setup_error: text(),
});

/** A state was entered in the interval (`not_before`, `not_after`] (`product.md` section 5). */
export const buildTransitions = mirror.table(
  "build_transitions",
  {
    build_id: idText()
      .notNull()
      .references(() => builds.id),
    seq: integer().notNull(),
    from_state: text(),
    to_state: text(),
    not_before: moment().notNull(),
    not_after: moment().notNull(),
    anomaly: text(),
    run_id: bigint({ mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.build_id, table.seq] })],
);

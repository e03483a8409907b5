import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { bookkeeping, idText, localTimestamp, moment } from "./columns.ts";
import { projects } from "./projects.ts";
import { mirror, sync } from "./schemas.ts";
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
    // A build without a state is not open: nothing says that it will ever finish.
    index("builds_unfinished").on(table.id).where(sql`state <> 'finished' and deleted_at is null`),
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

/** What set `not_before` of a transition (`docs/builds.md`). */
export type BoundRule = "date" | "last_seen" | "predecessor" | "unknown";

/**
 * A state was entered in the interval (`not_before`, `not_after`] (`docs/builds.md`, "Transitions"). Rows are only ever
 * added. What stands beyond `run_id` tells where the bounds come from; it is null in rows that were written before it was
 * kept.
 */
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
    /** The path and query whose reply, here at `not_after`, first showed the state. */
    request: text(),
    /** When that request was sent: what the service said then may have changed while the reply was under way. */
    asked_at: moment(),
    rule: text().$type<BoundRule>(),
    /** The last sighting of the predecessor, which set `not_before` by the rule `last_seen`. */
    previous_run_id: bigint({ mode: "number" }),
    previous_request: text(),
  },
  (table) => [
    primaryKey({ columns: [table.build_id, table.seq] }),
    // Rows come in the order of the runs: whoever wants those of the last ones reads the end of the table.
    index("build_transitions_run").using("brin", table.run_id),
  ],
);

/** Builds that have not finished, as they were seen last; those that finish or are deleted leave it. */
export const openBuilds = sync.table("open_builds", {
  build_id: idText()
    .primaryKey()
    .references(() => builds.id),
  /** Since when the build has been in its state: its date at first sight, else when the state was first seen. */
  since: moment().notNull(),
  /** When the request was sent that last showed the state; the one after it was entered later. */
  seen_at: moment().notNull(),
  run_id: bigint({ mode: "number" }).notNull(),
  request: text(),
  /** When its detail was last asked for without an answer that settled anything or could be stored; null when it never was. */
  asked_at: moment(),
  /** When its detail first answered 404 or 410; null while it does not. */
  vanished_at: moment(),
});

import { bigint, index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import type { Resource } from "../../resources/resources.ts";
import { idText, moment } from "./columns.ts";
import { builds } from "./records.ts";
import { mirror, sync } from "./schemas.ts";

/** The rule that set `not_before` of a transition (`docs/builds.md`). */
export type BoundRule = "date" | "last_seen" | "predecessor" | "unknown";

/**
 * A state was entered in the interval (`not_before`, `not_after`] (`docs/builds.md`, "Transitions"). Rows are
 * only added. The columns after `run_id` show where the bounds come from.
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
    /** The path and query whose reply first showed the state. The reply came at `not_after`. */
    request: text(),
    /** When that request was sent. The state may have changed while the reply was under way. */
    asked_at: moment(),
    rule: text().$type<BoundRule>(),
    /** The last sighting of the previous state. It set `not_before` by the rule `last_seen`. */
    previous_run_id: bigint({ mode: "number" }),
    previous_request: text(),
  },
  (table) => [
    primaryKey({ columns: [table.build_id, table.seq] }),
    // Rows are added in the order of the runs, so a query for the last runs reads the end of the table.
    index("build_transitions_run").using("brin", table.run_id),
  ],
);

/**
 * Builds that have not finished, with their last sighting. A build that finishes or is deleted leaves the
 * table.
 */
export const openBuilds = sync.table("open_builds", {
  build_id: idText()
    .primaryKey()
    .references(() => builds.id),
  /**
   * When the build entered its state: its date at the first sighting, else the first sighting of the state.
   */
  since: moment().notNull(),
  /** When the request was sent that last showed the state. The next state was entered later. */
  seen_at: moment().notNull(),
  run_id: bigint({ mode: "number" }).notNull(),
  request: text(),
  /**
   * When its detail was last requested without a result: no answer settled anything or could be stored. Null
   * when that never happened.
   */
  asked_at: moment(),
  /** When its detail first answered 404 or 410. Null while it does not. */
  vanished_at: moment(),
});

/** Updates, deletions and restorations of records, with the changed fields only. */
export const changes = mirror.table(
  "changes",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    resource: text().$type<Resource>().notNull(),
    record_id: idText().notNull(),
    run_id: bigint({ mode: "number" }).notNull(),
    observed_at: moment().notNull(),
    kind: text().$type<"updated" | "deleted" | "restored">().notNull(),
    before: jsonb(),
    after: jsonb(),
  },
  (table) => [
    index("changes_record").on(table.resource, table.record_id, table.id),
    index("changes_observed").on(table.resource, table.observed_at),
  ],
);

/** References whose record is not in the mirror. `position` is the place in a list of references, else 0. */
export const unresolvedReferences = mirror.table(
  "unresolved_references",
  {
    resource: text().$type<Resource>().notNull(),
    record_id: idText().notNull(),
    field: text().notNull(),
    position: integer().notNull(),
    uri: text().notNull(),
    status: text().$type<"pending" | "gone" | "foreign" | "malformed">().notNull(),
    /** When upstream last answered that it does not have the record. Null before that. */
    checked_at: moment(),
    /** When its detail was last requested, whatever the answer was. */
    asked_at: moment(),
    /** The record that the URI names, parsed once when the reference was stored. Null when it names none. */
    target_resource: text().$type<Resource>(),
    target_key: text(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.record_id, table.field, table.position] })],
);

import { sql } from "drizzle-orm";
import { boolean, check, index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import type { BuildStage, StateSource } from "../../resources/build-states.ts";
import type { Resource } from "../../resources/resources.ts";
import { idText, mirror, moment, runId, sync, wholeNumber } from "./columns.ts";
import { builds } from "./records.ts";

/** The rule that set `not_before` of a transition (`docs/builds.md`). */
export type BoundRule = "date" | "last_seen" | "predecessor" | "unknown";

const ofBuild = () =>
  idText()
    .notNull()
    .references(() => builds.id);

/**
 * A state was entered in the interval (`not_before`, `not_after`] (`docs/builds.md`, "Transitions"). The columns after
 * `run_id` show where the bounds come from.
 */
const transitionColumns = () => ({
  seq: integer().notNull(),
  from_state: text(),
  to_state: text(),
  not_before: moment().notNull(),
  not_after: moment().notNull(),
  anomaly: text(),
  run_id: runId(),
  request: text(),
  asked_at: moment(),
  rule: text().$type<BoundRule>(),
  previous_run_id: wholeNumber(),
  previous_request: text(),
});

/** Rows are only added, and leave the table when the id of a build is given to another one. */
export const buildTransitions = mirror.table(
  "build_transitions",
  { build_id: ofBuild(), ...transitionColumns() },
  (table) => [
    primaryKey({ columns: [table.build_id, table.seq] }),
    // Rows are added in the order of the runs, so a query for the last runs reads the end of the table.
    index("build_transitions_run").using("brin", table.run_id),
  ],
);

/** What each known state of a build means. Each run stores what `src/resources/build-states.ts` declares, and what it learns. */
export const buildStates = sync.table(
  "build_states",
  {
    /** As `stateWord` spells it. */
    state: text().primaryKey(),
    stage: text().$type<BuildStage>().notNull(),
    is_final: boolean().notNull(),
    source: text().$type<StateSource>().notNull(),
    /** For a learned one: up to this run, no build has left it. */
    run_id: wholeNumber(),
  },
  () => [check("build_states_final", sql`is_final = (stage in ('result', 'cancelled'))`)],
);

/**
 * The transitions of builds whose id was given to another build since (`docs/builds.md`, "Lives"). In a table of their own,
 * so that no query of a build's states mixes two lives.
 */
export const pastTransitions = mirror.table(
  "past_transitions",
  { build_id: ofBuild(), life: integer().notNull(), ...transitionColumns() },
  (table) => [primaryKey({ columns: [table.build_id, table.life, table.seq] })],
);

/**
 * Builds that are in no final state, those without a state included, with their last sighting. A build that ends or is
 * deleted leaves the table.
 */
export const openBuilds = sync.table("open_builds", {
  build_id: idText()
    .primaryKey()
    .references(() => builds.id),
  since: moment().notNull(),
  /** The next state was entered later. */
  seen_at: moment().notNull(),
  run_id: runId(),
  request: text(),
  asked_at: moment(),
  vanished_at: moment(),
});

/** Updates, deletions and restorations of records, with the changed fields only. */
export const changes = mirror.table(
  "changes",
  {
    id: wholeNumber().primaryKey().generatedAlwaysAsIdentity(),
    resource: text().$type<Resource>().notNull(),
    record_id: idText().notNull(),
    run_id: runId(),
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
    checked_at: moment(),
    asked_at: moment(),
    target_resource: text().$type<Resource>(),
    target_key: text(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.record_id, table.field, table.position] })],
);

import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import type { Resource } from "../../wire/resources.ts";
import { bytea, idText, moment } from "./columns.ts";
import { sync } from "./schemas.ts";

/** How much of the lists a sync reads. */
export type SyncKind = "full" | "incremental";
/** `quarantine` is a run of `quarantine --retry`: it writes, so it is a run, but it asks upstream for nothing. */
export type RunKind = SyncKind | "watch" | "quarantine";
/** What a run did not come to, by phase: each number is counted in records. A run with any of them is never a plain success. */
export interface Unfinished {
  /** Records that their lists no longer show, and whose details settled nothing yet. */
  deletions: number;
  /** Records that are referred to but not here, and that were not asked for or gave no answer. */
  references: number;
  /** Open builds that were due for a poll. */
  open_builds: number;
}

export type RunStatus = "running" | "succeeded" | "partial" | "failed" | "interrupted";
/** What a walk may claim at its end (`docs/contract.md`, "The run summary"); null while it goes on. */
export type WalkVerdict = "whole" | "not_whole" | "head" | "skipped";

export const runs = sync.table(
  "runs",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    kind: text().$type<RunKind>().notNull(),
    status: text().$type<RunStatus>().notNull(),
    started_at: moment().notNull(),
    finished_at: moment(),
    /** Written every few seconds while the run lives; an old one tells a dead process. */
    heartbeat_at: moment().notNull(),
    pid: integer().notNull(),
    host: text().notNull(),
    requests: bigint({ mode: "number" }).notNull().default(0),
    bytes: bigint({ mode: "number" }).notNull().default(0),
    /** Texts in which a U+0000 was replaced by U+FFFD. */
    replaced_nul: bigint({ mode: "number" }).notNull().default(0),
    references_resolved: bigint({ mode: "number" }).notNull().default(0),
    references_unresolved: bigint({ mode: "number" }).notNull().default(0),
    transitions: bigint({ mode: "number" }).notNull().default(0),
    error: text(),
    /** How much each phase behind the walks left undone (`Unfinished`); null in runs from before this was kept. */
    unfinished: jsonb().$type<Unfinished>(),
    /** What the run met without failing by it, each in a sentence: the service left alone for a while, deletions held back. */
    warnings: text().array().notNull().default([]),
    /** By how many milliseconds the service's clock (its `Date`) was ahead of ours, at least and at most; null when it did not tell. */
    clock_ahead_min_ms: integer(),
    clock_ahead_max_ms: integer(),
  },
  (table) => [
    // Rounds of a watch come every minute: who looks for a sync must not read through them.
    index("runs_syncs").on(table.id).where(sql`kind <> 'watch'`),
    index("runs_open").on(table.id).where(sql`status = 'running'`),
  ],
);

export const walks = sync.table(
  "walks",
  {
    run_id: bigint({ mode: "number" })
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    resource: text().$type<Resource>().notNull(),
    walk: text().$type<WalkVerdict>(),
    reason: text(),
    started_at: moment().notNull(),
    finished_at: moment(),
    pages: integer().notNull().default(0),
    records: bigint({ mode: "number" }).notNull().default(0),
    inserted: bigint({ mode: "number" }).notNull().default(0),
    updated: bigint({ mode: "number" }).notNull().default(0),
    unchanged: bigint({ mode: "number" }).notNull().default(0),
    deleted: bigint({ mode: "number" }).notNull().default(0),
    restored: bigint({ mode: "number" }).notNull().default(0),
    quarantined: bigint({ mode: "number" }).notNull().default(0),
    total_count: bigint({ mode: "number" }),
    /** The run in which the walk began: an earlier one for a walk that was resumed. Null in walks from before this was kept. */
    began_run_id: bigint({ mode: "number" }),
    /** Records that the newest whole walk of the list saw and that are no rows here, since they could not be stored. */
    unstored: bigint({ mode: "number" }),
    /**
     * By how many records upstream's count was above those that its list showed and that are here, when the head of the list had joined.
     * More than `unstored`: the mirror misses records. Less: it holds some that upstream does not. Null where it was not compared.
     */
    deficit: bigint({ mode: "number" }),
    /** Whether the list is as fresh as this walk: it was whole, or joined at the head with no difference left to explain. */
    is_good: boolean().generatedAlwaysAs(
      sql`walk = 'whole' or walk = 'head' and coalesce(deficit, 0) = coalesce(unstored, 0)`,
    ),
    /** Where a later run goes on: set while the walk is under way, null once it ended. */
    checkpoint: jsonb(),
    checkpoint_at: moment(),
  },
  (table) => [
    primaryKey({ columns: [table.run_id, table.resource] }),
    index("walks_resource").on(table.resource, table.run_id),
    index("walks_whole_run").on(table.resource, table.run_id).where(sql`walk = 'whole'`),
    index("walks_good").on(table.resource, table.run_id).where(sql`is_good`),
  ],
);

/**
 * The pages of the newest full walk of each resource, in its order. An equal body need not be parsed again, and
 * a resumed walk learns from `ids` what it has seen already.
 */
export const pages = sync.table(
  "pages",
  {
    resource: text().$type<Resource>().notNull(),
    seq: integer().notNull(),
    request: text().notNull(),
    body_hash: bytea().notNull(),
    meta: jsonb().notNull(),
    ids: text().array().notNull(),
    loaded_at: moment().notNull(),
    run_id: bigint({ mode: "number" }).notNull().default(0),
    /** The version of the normalizer that read it; 0 before that was kept. */
    normalizer_version: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.resource, table.seq] })],
);

export const quarantine = sync.table(
  "quarantine",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    run_id: bigint({ mode: "number" }).notNull(),
    resource: text().$type<Resource>().notNull(),
    record_id: text(),
    reason: text().notNull(),
    payload: jsonb(),
    /** The request whose reply held the record. */
    request: text(),
    created_at: moment().notNull(),
    resolved_at: moment(),
    /** Of a record that upstream cannot render: its place in the list, all that is known of it. Null for all others. */
    list_offset: bigint({ mode: "number" }),
  },
  (table) => [index("quarantine_resource").on(table.resource, table.id)],
);

/** The lists that are read at their head, and how many of their records are here and live. The loader keeps it. */
export const lists = sync.table("lists", {
  resource: text().$type<Resource>().primaryKey(),
  live: bigint({ mode: "number" }).notNull(),
});

/**
 * Live records that the newest whole walk of their list did not show. Each is asked for by its detail endpoint before it is marked as
 * deleted; what one run does not come to is left for the next. A record whose detail still answers stays here with `found_at`: its list
 * hides it.
 */
export const missingRecords = sync.table(
  "missing_records",
  {
    resource: text().$type<Resource>().notNull(),
    record_id: idText().notNull(),
    /** The run whose walk missed it. */
    run_id: bigint({ mode: "number" }).notNull(),
    noticed_at: moment().notNull(),
    /** When its detail was last asked for, whatever came. */
    asked_at: moment(),
    /** When its detail answered with the record; null while it never did, and where it did not when it was last asked for. */
    found_at: moment(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.record_id] })],
);

/** The answers of the schema endpoints, each once. */
export const upstreamSchemas = sync.table(
  "upstream_schemas",
  {
    resource: text().$type<Resource>().notNull(),
    body_hash: bytea().notNull(),
    body: jsonb().notNull(),
    first_seen_at: moment().notNull(),
    run_id: bigint({ mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.body_hash] })],
);

/** The one service that this database mirrors. A single row; none before the first sync, and in a mirror from before this was kept. */
export const service = sync.table(
  "service",
  {
    id: boolean().primaryKey().default(true),
    /** Origin and path of the base URL, without a closing slash and without credentials. */
    base_url: text().notNull(),
    /** The resources that its root listing named at the last sync, sorted. */
    resources: text().array().notNull(),
    noted_at: moment().notNull(),
  },
  (table) => [check("service_is_one", sql`${table.id}`)],
);

export const drift = sync.table(
  "drift",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    run_id: bigint({ mode: "number" }).notNull(),
    /** A resource of ours, or the name of one that we do not know. */
    resource: text().notNull(),
    field: text().notNull(),
    kind: text().$type<"appeared" | "vanished" | "type_changed">().notNull(),
    detail: text(),
    observed_at: moment().notNull(),
  },
  (table) => [index("drift_resource").on(table.resource, table.id)],
);

/** What was thinned out. No moment before the newest `horizon` of one that took changes can be looked back at. */
export const prunings = sync.table("prunings", {
  id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  /** Changes and runs older than this went. */
  horizon: moment().notNull(),
  pruned_at: moment().notNull(),
  changes: bigint({ mode: "number" }).notNull().default(0),
  runs: bigint({ mode: "number" }).notNull().default(0),
});

/** The views and functions of the reports (`src/report/sql`). `docmirror migrate` re-creates those that differ. */
export const definitions = sync.table("definitions", {
  /** With its schema. */
  name: text().primaryKey(),
  /** Covers its text and what it builds on; empty where a migration made it. */
  hash: text().notNull(),
  /** Of the docmirror that defined it. */
  version: text().notNull(),
  defined_at: moment().notNull(),
});

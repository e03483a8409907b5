import { sql } from "drizzle-orm";
import { boolean, check, index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import type { RunKindLabel, RunStatusLabel } from "../../base/metrics/labels.ts";
import type { Resource } from "../../resources/resources.ts";
import { bytea, count, idText, moment, now, runId, sync, wholeNumber } from "./columns.ts";

/** The part of the lists that a sync reads. */
export type SyncKind = "full" | "incremental";
/** `quarantine` is a run of `quarantine --retry`. It is a run because it writes, but it sends no request to upstream. */
export type RunKind = RunKindLabel;
/**
 * The work that a run left undone, counted in records. A run with any of it is never `succeeded`, but for
 * `waiting` and `deficit`: a deletion upstream is no fault, and the mirror shows what was there a moment ago.
 */
export interface Unfinished {
  /** Records that their lists no longer show, and whose details have not settled the question yet. */
  deletions: number;
  /** Records whose details say that they are gone, within `DOCMIRROR_REPLICA_LAG` of their last sighting. */
  waiting: number;
  /** Records that are referred to but not in the mirror, and that were not requested or gave no answer. */
  references: number;
  /** Open builds that were due for a poll. */
  open_builds: number;
  /** Records that upstream no longer counts, after the head of their list had joined, and that a search did not find. */
  deficit: number;
}

export type RunStatus = "running" | RunStatusLabel;
/** The result of a walk (`docs/contract.md`, "The run summary"). Null while it goes on. */
export type WalkVerdict = "whole" | "not_whole" | "head" | "skipped";

export const runs = sync.table(
  "runs",
  {
    id: wholeNumber().primaryKey().generatedAlwaysAsIdentity(),
    kind: text().$type<RunKind>().notNull(),
    status: text().$type<RunStatus>().notNull(),
    started_at: moment().notNull(),
    finished_at: moment(),
    /** Written every few seconds while the run is alive. An old one means a dead process. */
    heartbeat_at: moment().notNull(),
    pid: integer().notNull(),
    host: text().notNull(),
    /** The term of the lease `run` under which it may write. */
    term: wholeNumber(),
    requests: count(),
    bytes: count(),
    replaced_nul: count(),
    references_resolved: count(),
    references_unresolved: count(),
    transitions: count(),
    error: text(),
    unfinished: jsonb().$type<Unfinished>(),
    /** Troubles that did not make the run fail, a sentence each. */
    warnings: text().array().notNull().default([]),
    clock_ahead_min_ms: integer(),
    clock_ahead_max_ms: integer(),
    rounds: integer(),
    rounds_first_id: wholeNumber(),
    rounds_since: moment(),
    rounds_requests: wholeNumber(),
    rounds_bytes: wholeNumber(),
    /** When the certificate of the service ends. Null without TLS, or without a connection. */
    certificate_ends_at: moment(),
    /** The size of the whole database at the end. Null for a round of the watch. */
    database_bytes: wholeNumber(),
  },
  (table) => [
    // A watch runs a round every minute, so a search for a sync must not read through all rounds.
    index("runs_syncs").on(table.id).where(sql`kind <> 'watch'`),
    index("runs_open").on(table.id).where(sql`status = 'running'`),
  ],
);

export const walks = sync.table(
  "walks",
  {
    run_id: wholeNumber()
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    resource: text().$type<Resource>().notNull(),
    walk: text().$type<WalkVerdict>(),
    reason: text(),
    started_at: moment().notNull(),
    finished_at: moment(),
    pages: integer().notNull().default(0),
    records: count(),
    inserted: count(),
    updated: count(),
    unchanged: count(),
    deleted: count(),
    restored: count(),
    quarantined: count(),
    total_count: wholeNumber(),
    began_run_id: wholeNumber(),
    unstored: wholeNumber(),
    /**
     * More than `unstored`: the mirror misses records, or after a whole walk the count is wrong. Less: it has some too many. Of
     * a head: beyond what the next three columns explain.
     */
    deficit: wholeNumber(),
    /** The other causes of a difference to the count, of the same moment (`src/mirror/lists/differences.ts`). */
    unshown: wholeNumber(),
    repeated: wholeNumber(),
    held: wholeNumber(),
    is_good: boolean().generatedAlwaysAs(
      sql`walk = 'whole' or walk = 'head' and coalesce(deficit, 0) = coalesce(unstored, 0)`,
    ),
    round_records: wholeNumber(),
    round_reason: text(),
    search_requests: integer(),
    search_is_done: boolean(),
    read_since: moment(),
    checkpoint: jsonb(),
    checkpoint_at: moment(),
  },
  (table) => [
    primaryKey({ columns: [table.run_id, table.resource] }),
    index("walks_resource").on(table.resource, table.run_id),
    index("walks_whole_run").on(table.resource, table.run_id).where(sql`walk = 'whole'`),
    index("walks_read").on(table.resource, table.run_id).where(sql`read_since is not null`),
    index("walks_good").on(table.resource, table.run_id).where(sql`is_good`),
  ],
);

/** The walks that rest each night. All but `earlier` is null while none is under way. */
export const rounds = sync.table("rounds", {
  resource: text().$type<Resource>().primaryKey(),
  began_run_id: wholeNumber(),
  started_at: moment(),
  records: wholeNumber(),
  checkpoint: jsonb(),
  total_count: wholeNumber(),
  nights: jsonb(),
  earlier: jsonb().notNull().default([]),
});

/** The checks by sample (`docmirror verify`): what each found by list, and the records that the next one looks at again. */
export const checks = sync.table("checks", {
  id: wholeNumber().primaryKey().generatedAlwaysAsIdentity(),
  checked_at: moment().notNull().default(now),
  lists: jsonb().notNull(),
  suspects: jsonb().notNull(),
});

/** A page with an equal body need not be parsed again. A resumed walk reads from `ids` which records it has already seen. */
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
    run_id: runId(),
    normalizer_version: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.seq] })],
);

export const quarantine = sync.table(
  "quarantine",
  {
    id: wholeNumber().primaryKey().generatedAlwaysAsIdentity(),
    run_id: runId(),
    resource: text().$type<Resource>().notNull(),
    record_id: text(),
    reason: text().notNull(),
    payload: jsonb(),
    request: text(),
    created_at: moment().notNull(),
    resolved_at: moment(),
    list_offset: wholeNumber(),
  },
  (table) => [index("quarantine_resource").on(table.resource, table.id)],
);

/** The lists that are read at their head. The loader maintains it. */
export const lists = sync.table("lists", {
  resource: text().$type<Resource>().primaryKey(),
  live: wholeNumber().notNull(),
});

/** Triggers maintain it, so no writer can forget it. Replies made from an equal revision are equal. */
export const revisions = sync.table("revisions", {
  resource: text().$type<Resource>().primaryKey(),
  revision: wholeNumber().notNull(),
  changed_at: moment().notNull(),
});

/**
 * Triggers write it in the writer's own transaction, so no writer can forget it. The refresh deletes the rows that it read. A
 * row without an id stands for all records: there is no answer yet, or the table is large because no refresh succeeds.
 */
export const touchedRecords = sync.table("touched_records", {
  resource: text().$type<Resource>().notNull(),
  record_id: idText(),
});

/**
 * Live records that the newest whole walk of their list did not show. The detail endpoint is asked for each before it is marked
 * as deleted. A run that cannot ask for all leaves the rest to the next run. A record whose detail still answers stays here
 * with `found_at`: its list hides it. So does one that nothing settles: it is kept, and still asked for.
 */
export const missingRecords = sync.table(
  "missing_records",
  {
    resource: text().$type<Resource>().notNull(),
    record_id: idText().notNull(),
    run_id: runId(),
    noticed_at: moment().notNull(),
    asked_at: moment(),
    found_at: moment(),
    /** Within `DOCMIRROR_REPLICA_LAG` of its last sighting. Null while it never did, and after another answer. */
    gone_at: moment(),
    undecided_runs: integer().notNull().default(0),
    /** Null where its deletion is not held back; infinity where a person decides. */
    held_until: moment(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.record_id] })],
);

/** The replies of the schema endpoints, each stored once. */
export const upstreamSchemas = sync.table(
  "upstream_schemas",
  {
    resource: text().$type<Resource>().notNull(),
    body_hash: bytea().notNull(),
    body: jsonb().notNull(),
    first_seen_at: moment().notNull(),
    run_id: runId(),
    asked_at: moment(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.body_hash] })],
);

/** The one service that this database mirrors: a single row, or none before the first sync. */
export const service = sync.table(
  "service",
  {
    id: boolean().primaryKey().default(true),
    base_url: text().notNull(),
    resources: text().array().notNull(),
    noted_at: moment().notNull(),
  },
  (table) => [check("service_is_one", sql`${table.id}`)],
);

/** The size of the pages that the walks of a list found (`DOCMIRROR_PAGE_SIZE=auto`). Forgotten together with the service. */
export const pageSizes = sync.table("page_sizes", {
  resource: text().$type<Resource>().primaryKey(),
  page_size: integer().notNull(),
  shrunk_at: moment(),
  service: boolean()
    .notNull()
    .references(() => service.id, { onDelete: "cascade" }),
});

export const drift = sync.table(
  "drift",
  {
    id: wholeNumber().primaryKey().generatedAlwaysAsIdentity(),
    run_id: runId(),
    resource: text().notNull(),
    field: text().notNull(),
    kind: text().$type<"appeared" | "vanished" | "type_changed" | "unsteady">().notNull(),
    detail: text(),
    observed_at: moment().notNull(),
  },
  (table) => [index("drift_resource").on(table.resource, table.id)],
);

/**
 * The removals by `docmirror prune`. A view of the past is refused for moments before the newest `horizon` that
 * removed changes.
 */
export const prunings = sync.table("prunings", {
  id: wholeNumber().primaryKey().generatedAlwaysAsIdentity(),
  horizon: moment().notNull(),
  pruned_at: moment().notNull(),
  changes: count(),
  runs: count(),
});

/** The views and functions of the reports (`src/report/functions`). `docmirror migrate` re-creates those that differ. */
export const definitions = sync.table("definitions", {
  name: text().primaryKey(),
  hash: text().notNull(),
  version: text().notNull(),
  defined_at: moment().notNull(),
});

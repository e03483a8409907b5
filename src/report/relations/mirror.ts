import { text } from "drizzle-orm/pg-core";
import { RESOURCES } from "../../resources/resources.ts";
import { rollup, wholeNumber } from "../../store/schema/columns.ts";
import { declareRelation, stored } from "../declare-relation.ts";
import { DELETED_AT, FIRST_SEEN_AT, NONE_SENT, PROJECT } from "./column-sentences.ts";

export const resources = rollup.table("resources", {
  resource: text().primaryKey(),
  records: wholeNumber().notNull(),
  deleted_records: wholeNumber().notNull(),
});

const RECORDS = {
  records: "Records on those pages.",
  inserted: "Records that were new.",
  updated: "Records that had changed.",
  deleted: "Records that were gone.",
  restored: "Records that were gone and came back.",
  quarantined: "Records that could not be stored.",
} as const;

const NOT_REFRESHED = "null before the first refresh";

export const MIRROR_RELATIONS = {
  freshness: declareRelation({
    answers: "How fresh is the mirror? One row per resource.",
    columns: {
      resource: `${RESOURCES.slice(0, -1).join(", ")} or ${RESOURCES.at(-1)}.`,
      last_good_at:
        "When the newest good walk of its list ended: a whole one, or a head whose counts agree. Null where there is none.",
      current_through:
        "When that walk began, in an earlier run where it was resumed: the mirror has everything that happened before. Null without one.",
      lag_s: "Seconds from current_through to now; null where a wrong clock dated it ahead.",
      last_walk: "How that walk ended: whole or head; null without one.",
      last_whole_at: "When the last whole walk ended; null where there is none.",
      last_attempt_at: "When the last walk began, however it ended; null where there is none.",
      is_whole: "True when the last walk that ended was a good one.",
      records: `Records that the service still has, as of expensive_refreshed_at; ${NOT_REFRESHED}.`,
      deleted_records: `Records that it no longer has, of the same moment; ${NOT_REFRESHED}.`,
      quarantined: "Records that wait in quarantine.",
      refreshed_at: `When the answers of this schema were last computed; ${NOT_REFRESHED}.`,
      deficit:
        "How many more records the service counted than the mirror has, when the list was last read, both without what the list hides; " +
        "null where that was not compared.",
      mirror_last_good_at: "The earliest last_good_at of all lists. Null while a list has none.",
      mirror_current_through:
        "The earliest current_through of all lists: the mirror is as fresh as its oldest list. Null while a list has none.",
      replica_lag_s:
        "On a streaming replica, seconds since the last change that it replayed; 0 where it has " +
        "replayed all that it received. Null on a primary, and on a replica that has replayed nothing " +
        "since it started.",
      facts_checked_at: `When all facts of builds were last compared with their records, or computed from them; ${NOT_REFRESHED}.`,
      facts_repaired:
        "Facts that this comparison found wrong, and computed again; null without one. Anything but 0 is a fault of docmirror, or of who wrote to its tables.",
      covered_through:
        "In the row of builds: is_covered and is_complete count what happened before this moment, as of the last refresh. " +
        "Null before the first whole walk, and in other rows.",
      builds_dated_ahead:
        "In the row of builds: how many are dated beyond tomorrow, which counts as no date, as of the last refresh; null in other rows.",
      refreshed_run_id: `The newest run that is in the answers, key of runs; 0 where they were computed before any run had ended; ${NOT_REFRESHED}.`,
      read_since:
        "Every record of the list was read after this moment, by the newest whole walk, or the builds in rounds of some nights. Null where that never was.",
      held_records:
        "Records that whole walks miss and that are kept, because more are missing than DOCMIRROR_MAX_DELETE_RATIO allows.",
      held_since: "Since when the first of them is missing; null where there is none.",
      held_until: "Until when the last of them is kept; null where there is none, or where a person decides.",
      checked: "Records that checks by sample of 30 days compared with the service. Null without one.",
      checked_equal: "Those of them that were equal. Null without one.",
      check_nights: "On how many days these checks were. Null without one.",
      wrong: "Records that the newest check found wrong. Null without one.",
      refresh_failed_at:
        "When computing the answers failed; null once it has gone well. They are older than that, and the next try computes everything anew.",
      refresh_error: "Why it failed; null once it has gone well.",
      known_since:
        "When the first whole walk of its list ended, of those that are still in walks: what has a later first_seen_at came since then; " +
        "what has an earlier one may have been there for years. Null before that walk.",
      expensive_refreshed_at:
        "When the answers that may be older than refreshed_at were last computed, as their relations say, and records here; " +
        `\`docmirror report\` and \`docmirror sql\` compute them first; ${NOT_REFRESHED}.`,
    },
    key: ["resource"],
    answer: ["resource", "current_through", "lag_s", "last_walk", "records", "quarantined", "is_whole"],
    stored: stored(resources),
  }),
  runs: declareRelation({
    answers:
      "What did docmirror do? One row per run; rounds of the watch that saw nothing are one row an hour, that of the last of them.",
    columns: {
      run_id: "The run's number; the payload of NOTIFY docmirror_run.",
      kind: "full, incremental, watch, quarantine or repair.",
      status: "running, succeeded, partial, failed or interrupted.",
      started_at: "When it began.",
      finished_at: "When it ended, or its process was last alive; null while it runs.",
      duration_s: "How many seconds it took; null while it runs.",
      requests: "Requests sent.",
      bytes: "Bytes received.",
      pages: "Pages of lists read.",
      ...RECORDS,
      transitions: "Transitions of builds.",
      warnings: "How many warnings it gave.",
      error: "What ended it early; null where nothing did.",
      unfinished:
        "Work that it left: deletions to confirm, references to ask for, open builds to poll; null where it did not count it.",
      rounds: "How many runs the row stands for: 1, or more where rounds of the watch saw nothing.",
      rounds_first_run_id: "The number of the first of them; the others lie between it and run_id.",
      rounds_since: "When the first of them began.",
      rounds_requests: "Requests that all of them sent; sums add up by it.",
      rounds_bytes: "Bytes that all of them received.",
      reason:
        "Why it did not succeed: its error, else the reasons of its walks and what it left; null where it did, or still runs.",
    },
    key: ["run_id"],
    time: "started_at",
    order: ["run_id desc"],
    answer: ["run_id", "kind", "status", "started_at", "requests", "reason", "duration_s"],
  }),
  walks: declareRelation({
    answers: "How did each reading of a list end, and why was it not whole? One row per run and resource.",
    columns: {
      run_id: "The run (see runs).",
      resource: "Whose list (see freshness).",
      walk:
        "How it ended: whole, head (the newest records, as far as it had to read; none of a list that the service dropped), " +
        "not_whole or skipped; null while it goes on.",
      reason: "Why it was not whole or was skipped, or why its counts do not agree; null where all is well.",
      started_at: "When it began.",
      finished_at: "When it ended; null while it goes on.",
      duration_s: "How many seconds it took; null while it goes on.",
      pages: "Pages read.",
      ...RECORDS,
      total_count: "How many records the service counted; null where it did not say.",
      deficit:
        "How many more records the service counted than the mirror has, of a head beyond what the service is known to count " +
        "and not to show; null where that was not compared.",
      unstored: "Records of the list that have no row, because they could not be stored.",
      is_good: "True where the list is as fresh as this walk.",
      round_records: "Records that were read again below the head, as a night of a round; null without one.",
      round_reason:
        "Why that night read nothing, broke off, or ended its round unproven; null where it did none of these.",
      search_requests: "Requests of a search for what came or went below the head; null without one.",
      search_is_done: "Whether it settled the difference; null without a search.",
    },
    key: ["run_id", "resource"],
    time: "started_at",
    order: ["run_id desc", "resource"],
    answer: ["run_id", "resource", "walk", "records", "started_at", "reason"],
  }),
  quarantine: declareRelation({
    answers:
      "What could not be stored? One row per resource and kind of reason, of the records that still wait.",
    columns: {
      resource: "Whose records (see freshness).",
      reason_kind:
        "not_sent: the service fails to show this place of its list. no_id: it has no id that can be " +
        "stored. unreadable: it is no record. refused: the database refused it. Or other.",
      records: "Records that wait.",
      oldest_at: "When the first of them came.",
      newest_at: "When the last of them came.",
    },
    key: ["resource", "reason_kind"],
    order: ["records desc", "resource", "reason_kind"],
    answer: ["resource", "reason_kind", "records", "oldest_at", "newest_at"],
  }),
  broken_references: declareRelation({
    answers:
      "Which references lead to records that the mirror does not have? One row per field, kind of its target and status.",
    columns: {
      resource: "The records that refer (see freshness).",
      field: "The field that refers, such as project.",
      target_resource: "What it refers to; null where the reference names no record.",
      status:
        "pending: not asked for yet, or no answer. gone: the service has no such record. foreign: it " +
        "leads outside the API of the service. malformed: it names no record of this kind.",
      broken: "References that are broken.",
      targets: "Different records that they name.",
      first_checked_at: "When the first of them was found to lead nowhere; null where that was never asked.",
      last_checked_at: "When the last of them was found to lead nowhere; null where that was never asked.",
    },
    key: ["resource", "field", "target_resource", "status"],
    nullable: ["target_resource"],
    order: ["broken desc", "resource", "field", "target_resource", "status"],
    answer: ["resource", "field", "target_resource", "status", "broken", "targets", "last_checked_at"],
  }),
  schema_changes: declareRelation({
    answers:
      "How does the service differ from the interface that docmirror knows? One row per field and difference, when it was first seen.",
    columns: {
      resource: "Whose records or schema.",
      field: "The field that differs; empty for the list itself.",
      kind: "appeared, vanished, type_changed, or unsteady where it differs from reply to reply.",
      detail: "What came instead, without any value; null where nothing did.",
      observed_at: "When it was first seen.",
    },
    key: ["resource", "field", "kind", "detail"],
    nullable: ["detail"],
    time: "observed_at",
    order: ["observed_at desc", "resource", "field", "kind", "detail"],
    answer: ["resource", "field", "kind", "detail", "observed_at"],
  }),
  project_changes: declareRelation({
    answers:
      "What changed of a project? One row per field and look that showed it changed, and one for each time that it was deleted or restored. " +
      "None is known from before known_since of projects, in freshness.",
    columns: {
      change_id: "The number of the change.",
      project_id: "Key of dim_projects.",
      project_slug: "Its slug today.",
      observed_at: "When the mirror saw it.",
      kind: "updated, deleted or restored.",
      field:
        "The field; null where it was deleted or restored. Administrators, and fields that docmirror does not know, are left out.",
      before: "Its value before, as text, which may be empty; null where it had none.",
      after: "Its value since, which may be empty; null where it has none.",
      run_id: "The run that saw it (see runs).",
    },
    key: ["change_id", "field"],
    nullable: ["field"],
    time: "observed_at",
    order: ["observed_at desc", "change_id desc", "field"],
    answer: ["project_slug", "observed_at", "kind", "field", "before", "after"],
  }),
  files: declareRelation({
    answers:
      "Which files are there, and what came of their pages? One row per file of documentation, deleted ones too. " +
      "`docmirror sync --content` asks for pages; without it the last six columns are null.",
    columns: {
      file_id: "The file's id.",
      ...PROJECT,
      path: `Its path within the documentation; ${NONE_SENT}.`,
      name: `The name of its page; ${NONE_SENT}.`,
      url: `The address of its page; ${NONE_SENT}.`,
      is_deleted: "True when the service no longer has it.",
      first_seen_at: FIRST_SEEN_AT,
      deleted_at: DELETED_AT,
      version_slug: "The slug of the version that its address names, or null.",
      http_status: "That of the last reply; null where none came.",
      reason: "Why that gave no page; null where it did, or where the page is unchanged.",
      title: "The title of the page; null where it has none.",
      fetched_at: "When its present content came; null where none did.",
      asked_at: "When its page was last asked for; null where it never was.",
    },
    key: ["file_id"],
    order: ["project_slug", "project_id", "path", "file_id"],
    answer: ["project_slug", "path", "http_status", "title", "is_deleted", "reason"],
    resource: "file",
  }),
  muted_projects: declareRelation({
    answers: "Of which projects is no notice noted? One row per project that is muted now.",
    columns: { project_slug: "The slug of the project.", until: "Until when.", muted_at: "Since when." },
    key: ["project_slug"],
    order: ["until", "project_slug"],
    answer: ["project_slug", "until", "muted_at"],
  }),
  data_dictionary: declareRelation({
    answers: "What does each column mean? One row per column of this schema.",
    columns: {
      relation: "The table or view.",
      relation_comment: "The question that it answers.",
      position: "The column's place, from 1.",
      column_name: "The column.",
      data_type: "Its type, as Postgres names it.",
      description: "Its meaning.",
    },
    key: ["relation", "column_name"],
    order: ["relation", "position"],
    answer: ["relation", "column_name", "description"],
    isDrawn: false,
  }),
};

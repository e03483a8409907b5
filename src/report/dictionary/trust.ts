/** How far the mirror can be trusted: its walks, and what it lacks. Counts and reasons, no records. */
export const TRUST = {
  walks: {
    answers: "How did each reading of a list end, and why was it not whole? One row per run and resource.",
    columns: {
      run_id: "The run (see runs).",
      resource: "Whose list (see freshness).",
      walk: "How it ended: whole, head (the newest records, as far as it had to read), not_whole or skipped; null while it goes on.",
      reason: "Why it was not whole or was skipped, or why its counts do not agree; null where all is well.",
      started_at: "When it began.",
      finished_at: "When it ended; null while it goes on.",
      duration_s: "How many seconds it took; null while it goes on.",
      pages: "Pages read.",
      records: "Records on those pages.",
      inserted: "Records that were new.",
      updated: "Records that had changed.",
      deleted: "Records that were gone.",
      restored: "Records that were gone and came back.",
      quarantined: "Records that could not be stored.",
      total_count: "How many records the service counted; null where it did not say.",
      deficit:
        "How many more records the service counted than the mirror has; null where that was not compared.",
      unstored: "Records of the list that have no row, because they could not be stored.",
      is_good: "True where the list is as fresh as this walk.",
    },
  },
  quarantine: {
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
  },
  broken_references: {
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
  },
  schema_changes: {
    answers:
      "How does the service differ from the interface that docmirror knows? One row per field and difference, when it was first seen.",
    columns: {
      resource: "Whose records or schema.",
      field: "The field that differs.",
      kind: "appeared, vanished or type_changed.",
      detail: "What came instead, without any value.",
      observed_at: "When it was first seen.",
    },
  },
  muted_projects: {
    answers: "Of which projects is no notice noted? One row per project that is muted now.",
    columns: {
      project_slug: "The slug of the project.",
      until: "Until when.",
      muted_at: "Since when.",
    },
  },
} as const;

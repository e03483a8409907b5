import { declareRelation } from "../declare-relation.ts";
import { DAY, NONE_DATED } from "./column-sentences.ts";

/** For rows of all failures with something in common, such as their class. */
const failureColumns = (common: string) =>
  ({
    example: "The error line of the newest of them; null where there is none.",
    failures: `Failed builds of this ${common}.`,
    failure_share: "Their share of all failures, 0 to 1.",
    projects:
      "Projects with such a failure, without the unknown one. A project may be in several rows: do not add them up.",
    project_share: "Their share of all projects with a failure, 0 to 1; null where no known project has one.",
    first_triggered_at: `When the first of them was triggered; ${NONE_DATED}.`,
    last_triggered_at: `When the last of them was triggered; ${NONE_DATED}.`,
    last_build_id: "The last of them.",
    failures_last_7_days:
      "Those of the last seven UTC days, which end with the day up to which the build list was read; builds without a date count in no span.",
    failures_7_days_before: "Those of the seven days before.",
    projects_last_7_days: "Projects with such a failure in the last seven days, without the unknown one.",
    projects_7_days_before: "The same for the seven days before.",
  }) as const;

const RANK = { rank: "1 for the one that hits the most projects; then by failures." } as const;

export const ERROR_RELATIONS = {
  error_classes: declareRelation({
    answers: "Why do builds fail? One row per class of failures, ranked by the projects that they hit.",
    columns: {
      ...RANK,
      error_class: "The class, by error_rules.",
      ...failureColumns("class"),
    },
    key: ["error_class"],
    order: ["rank"],
    answer: ["rank", "error_class", "failures", "projects", "example"],
  }),
  error_fingerprints: declareRelation({
    answers:
      "Which kinds of error are there? One row per fingerprint of failures, ranked by the projects that they hit.",
    columns: {
      ...RANK,
      error_class: "The class of the newest of them, by error_rules.",
      error_fingerprint: "The fingerprint (see fact_builds).",
      ...failureColumns("fingerprint"),
      mask:
        "What the error lines of the fingerprint share, such as: No module named ‹name›. A ‹name› or an ‹address› may " +
        "be the cause; a ‹path›, ‹number›, ‹hash› or ‹date› is only a place. Null where there is no line.",
    },
    key: ["error_fingerprint"],
    order: ["rank"],
    answer: ["rank", "error_class", "failures", "projects", "mask"],
  }),
  error_lines: declareRelation({
    answers:
      "Which errors are there, and which are new? One row per error line of failures, ranked by the projects that it hits.",
    columns: {
      ...RANK,
      error_class: "The class of the newest of them, by error_rules.",
      error_fingerprint: "Its fingerprint (see fact_builds): errors of the same kind.",
      error_line_id: "16 hex digits, the same for builds with the same error (see fact_builds).",
      error_line:
        "The error line, with ‹path›, ‹number›, ‹hash› and ‹date› for the places of one build; null where there is none.",
      ...failureColumns("line"),
    },
    key: ["error_line_id"],
    order: ["rank"],
    answer: ["rank", "error_class", "failures", "projects", "error_line"],
  }),
  error_fingerprints_daily: declareRelation({
    answers:
      "When did which error happen? One row per UTC day, class and fingerprint with failures; days without failures have none.",
    columns: {
      ...DAY,
      error_class: "The class, by error_rules.",
      error_fingerprint: "The fingerprint (see fact_builds).",
      failures: "Failed builds of this day, class and fingerprint.",
      projects:
        "Projects with such a failure, without the unknown one. A project may be in several rows: do not add them up.",
    },
    key: ["day", "error_class", "error_fingerprint"],
    time: "day",
    order: ["day desc", "failures desc", "error_class", "error_fingerprint"],
    answer: ["day", "error_class", "error_fingerprint", "failures", "projects"],
  }),
  error_rules: declareRelation({
    answers:
      "Which rules classify failures? The first that matches counts. You may edit them; `docmirror reclassify` applies them to stored failures.",
    columns: {
      position: "Primary key: lower ones are tried first.",
      pattern: "A POSIX regular expression, matched against the error line in any case.",
      class: "The class of a failure that matches.",
      note: "Why the rule is there; may be empty.",
      is_platform:
        "True where such failures are the platform's fault: success_rate_without_platform leaves them " +
        "out. A class is the platform's where any of its rules says so.",
    },
    key: ["position"],
    answer: ["position", "pattern", "class", "is_platform", "note"],
    isDrawn: false,
  }),
};

import { declareRelation } from "../declare-relation.ts";
import { DELETED_AT, FIRST_SEEN_AT, NONE_SENT } from "./column-sentences.ts";

const NOT_SENT = "null where that is not sent";

const SEEN_OR_UNKNOWN = `${FIRST_SEEN_AT} Null for '-1'.`;

const RENAMED_AT =
  "When its slug or name last changed; where they never did, when this row was added, which is after first_seen_at. " +
  "project_changes shows which projects were renamed.";

export const DIMENSIONS = {
  dim_projects: declareRelation({
    answers:
      "Which projects are there? One row per project, deleted ones too, and '-1' for builds whose project is not in the mirror. " +
      "The service's list shows those with is_listed. Before you count: where not is_deleted and project_id <> '-1'.",
    columns: {
      project_id: "Primary key: the project's id; '-1' for the unknown one.",
      project_slug: "The project's slug; its id where it has none.",
      project_name: "Its name; the slug where it has none.",
      repo: `The address of its source repository; ${NONE_SENT}.`,
      repo_type: `git, hg, bzr or svn; ${NONE_SENT}.`,
      documentation_type: `The tool that builds its documentation; ${NONE_SENT}.`,
      default_version: `The slug of its default version; ${NONE_SENT}.`,
      default_branch: "The branch that latest is built from; null where none is set.",
      published_on: `The UTC day on which it was created (pub_date); ${NONE_SENT}.`,
      is_listed: "False where the list hides it, and only references show it.",
      is_deleted: "True when the service no longer has it; its builds still count.",
      first_seen_at: SEEN_OR_UNKNOWN,
      deleted_at: DELETED_AT,
      theme: `The theme of its documentation; ${NONE_SENT}.`,
      programming_language:
        "The programming language of its repository, by the undocumented field of that name: its text, " +
        "or its name where an object was sent. Null where the service sends none.",
      use_virtualenv: `Whether it is built in a virtual environment; ${NOT_SENT}.`,
      updated_at: "When this row last changed.",
      renamed_at: RENAMED_AT,
    },
    key: ["project_id"],
    order: ["project_slug", "project_id"],
    answer: ["project_slug", "project_name", "documentation_type", "published_on", "is_deleted"],
    resource: "project",
  }),
  dim_versions: declareRelation({
    answers:
      "Which versions are there? One row per version, deleted ones too, and '-1' for builds without a known version. " +
      "Leave out those of deleted projects. Before you count: where not is_deleted and version_id <> '-1'.",
    columns: {
      version_id: "Primary key: the version's id; '-1' for the unknown one.",
      project_id: "Its project: key of dim_projects; '-1' where that is not in the mirror.",
      version_slug: "Its slug, such as latest; its id where it has none.",
      version_name: `Its name as its repository spells it (verbose_name); ${NONE_SENT}.`,
      identifier: `Its branch, tag or commit; ${NONE_SENT}.`,
      is_active: `Whether its documentation is kept up to date; ${NOT_SENT}.`,
      is_built:
        "Whether it was ever built, as the service says, else null: builds that it no longer lists and uploads count too. " +
        "The cookbook shows which versions have no build here.",
      is_uploaded: `Whether its documentation was uploaded, not built; ${NOT_SENT}.`,
      is_deleted:
        "True when the service no longer has it; its builds still count. A version of a deleted project may not be deleted itself.",
      first_seen_at: SEEN_OR_UNKNOWN,
      deleted_at: DELETED_AT,
      kind:
        "latest or stable for these slugs; else tag where the identifier is a path of tags or a commit's " +
        "hash, and branch where it is a path of branches or one of master, main, trunk, default and " +
        "develop. Null where none of these shows it.",
      is_main:
        "Whether it is its project's default version, which readers see first; latest where the project names none. " +
        "Its html is the main documentation of builds of that project. False where the project is not known.",
      updated_at: "When this row last changed.",
      renamed_at:
        "When its slug, name, project or is_main last changed; where they never did, when this row was added.",
    },
    key: ["version_id"],
    order: ["project_id", "version_slug", "version_id"],
    answer: [
      "version_slug",
      "version_name",
      "project_id",
      "is_active",
      "is_built",
      "is_deleted",
      "identifier",
    ],
    resource: "version",
  }),
  dim_dates: declareRelation({
    answers: "The calendar: every UTC day from the first build to the end of next year.",
    columns: {
      day: "Primary key: the UTC day.",
      week: "The Monday of its ISO week.",
      iso_week: "The ISO week, such as 2026-W47.",
      month: "The month, such as 2026-11.",
      quarter: "The quarter, such as 2026-Q4.",
      year: "The calendar year; the ISO week's year may differ.",
      day_of_week: "1 for Monday to 7 for Sunday.",
      is_weekend: "True on Saturday and Sunday.",
      month_start: "The first day of the month.",
      month_of_year: "1 for January to 12 for December.",
      month_name: "The month's English name, such as November.",
      quarter_start: "The first day of the quarter.",
      quarter_of_year: "1 to 4.",
      day_name: "The day's English name, such as Monday.",
    },
    key: ["day"],
    time: "day",
    answer: ["day", "week", "iso_week", "month", "day_of_week", "is_weekend"],
    isDrawn: false,
  }),
};

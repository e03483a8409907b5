import { declareRelation } from "../declare-relation.ts";
import { DELETED_AT, NONE_SENT } from "./column-sentences.ts";
import { FAILURE_RELATIONS } from "./failures.ts";

const MAINTAINERS =
  "The usernames of its administrators, an array in the order of the project's own list; null where none is known.";

/** The relations of schema `report_people`: only `docmirror grant-reader ROLE --with-people` gives access. */
export const PEOPLE = {
  users: declareRelation({
    answers: "Who has an account? One row per user of the service.",
    columns: {
      user_id: "The user's id.",
      username: `The login; ${NONE_SENT}.`,
      first_name: "The first name, as sent: it may be empty or null.",
      last_name: "The last name, as sent: it may be empty or null.",
      last_login_at: "Read in the source zone; null where it is not known.",
      is_deleted: "Whether the mirror found it deleted.",
      first_seen_at: "When the mirror first saw it.",
      deleted_at: DELETED_AT,
    },
    key: ["user_id"],
    answer: ["username", "last_login_at", "is_deleted"],
  }),
  project_users: declareRelation({
    answers: "Who administrates which project? One row per project and user.",
    columns: {
      project_id: "Key of dim_projects.",
      user_id: "Key of users.",
      position: "The place in the project's own list, from 0.",
    },
    key: ["project_id", "user_id"],
    order: ["project_id", "position"],
    answer: ["project_id", "user_id", "position"],
  }),
  project_maintainers: declareRelation({
    answers: "Who maintains a project? One row per project with administrators that the mirror has.",
    columns: {
      project_id: "Key of dim_projects.",
      maintainers: "Their usernames, an array in the order of the project's own list.",
    },
    key: ["project_id"],
    answer: ["project_id", "maintainers"],
  }),
  failing_projects: declareRelation({
    answers:
      "Whom to tell of a project that fails? The rows of report.failing_projects, with who maintains each.",
    columns: { ...FAILURE_RELATIONS.failing_projects.columns, maintainers: MAINTAINERS },
    key: ["project_id"],
    order: FAILURE_RELATIONS.failing_projects.order,
    answer: ["project_slug", "failing_since", "maintainers"],
  }),
};

import { askFor } from "../report/question.ts";
import type { BlockSpec } from "./block.ts";
import {
  between,
  buildIn,
  countOf,
  eitherOf,
  momentOf,
  OUTCOME,
  PROJECT,
  RATE,
  shareOf,
  spanOf,
  TYPE,
  textIn,
  VERSION,
} from "./cells.ts";

/** The number of rows of a table that need not be long. */
const ROWS = 20;
/** With fewer builds a flip rate is mostly chance. */
const MIN_FINISHED = 10;

const SERIES = [PROJECT, VERSION, TYPE] as const;
const CUTS = ["version", "type"] as const;

export const FAILING_NOW: BlockSpec = {
  id: "failing-now",
  title: "Failing now",
  relation: "failing_now",
  filters: CUTS,
  limit: ROWS,
  ask: (filters) => askFor("failing_now", filters),
  columns: [
    ...SERIES,
    countOf("Failures", "failures"),
    momentOf("Since", "failing_since"),
    momentOf("Last success", "last_succeeded_at"),
    textIn("Error class", "error_class", 32),
    buildIn("Last build", "last_failed_build_id"),
  ],
  empty: "Nothing is failing: the last finished build of every series succeeded.",
};

const STREAK_STATE = eitherOf("State", "is_open", {
  yes: "✗\u00a0still\u00a0broken",
  no: "✓\u00a0recovered",
});

export const BROKE: BlockSpec = {
  id: "broke",
  title: "Broke in the last 7 days",
  relation: "recoveries",
  meaning:
    "Which series (project, version, type) began to fail in the last seven days, and have they recovered? One row for each streak of failures, up to the next success.",
  filters: CUTS,
  limit: ROWS,
  ask: (filters) => askFor("recoveries", filters, () => ["failed_at >= now() - interval '7 days'"]),
  columns: [
    ...SERIES,
    STREAK_STATE,
    countOf("Failures", "failures"),
    momentOf("Broke", "failed_at"),
    momentOf("Recovered", "recovered_at"),
    between("Took", "recovery_s_min", "recovery_s_max"),
    textIn("Error class", "error_class", 32),
    buildIn("First failure", "first_failed_build_id"),
  ],
  empty: "Nothing began to fail in the last seven days.",
};

export const RECOVERED: BlockSpec = {
  ...BROKE,
  id: "recovered",
  title: "Recovered in the last 7 days",
  meaning:
    "Which series recovered in the last seven days, and how long did it take? One row for each streak of failures, from the first failure to the success.",
  ask: (filters) => askFor("recoveries", filters, () => ["recovered_at >= now() - interval '7 days'"]),
  columns: BROKE.columns.filter((column) => column !== STREAK_STATE),
  empty: "Nothing recovered in the last seven days.",
};

export const ERROR_CLASSES: BlockSpec = {
  id: "error-classes",
  title: "Why builds fail",
  relation: "error_classes",
  filters: [],
  limit: ROWS,
  ask: (filters) => askFor("error_classes", filters),
  columns: [
    { ...textIn("Class", "error_class", 32), isName: true },
    textIn("For example", "example", 100),
    countOf("Projects", "projects"),
    shareOf("of those failing", "project_share"),
    countOf("Failures", "failures"),
    shareOf("of all failures", "failure_share"),
    momentOf("Last", "last_triggered_at"),
    buildIn("Last build", "last_build_id"),
  ],
  empty: "No build has failed.",
};

const OPEN_COLUMNS = [
  buildIn("Build", "build_id", true),
  ...SERIES,
  textIn("State", "state", 24),
  momentOf("Triggered", "triggered_at"),
  momentOf("Last seen", "last_seen_at"),
  spanOf("Age when last seen", "age_s"),
];

export const STUCK_BUILDS: BlockSpec = {
  id: "stuck-builds",
  title: "Stuck builds",
  relation: "stuck_builds",
  filters: CUTS,
  limit: ROWS,
  ask: (filters) => askFor("stuck_builds", filters),
  columns: OPEN_COLUMNS,
  empty: "No build is stuck.",
};

export const OPEN_BUILDS: BlockSpec = {
  id: "open-builds",
  title: "Open builds",
  relation: "open_builds",
  filters: CUTS,
  limit: ROWS,
  ask: (filters) => askFor("open_builds", filters),
  columns: [...OPEN_COLUMNS, textIn("Outcome", "outcome", 24)],
  empty: "Every build has finished.",
};

export const INSTABILITY: BlockSpec = {
  id: "instability",
  title: "Flaky series",
  relation: "instability",
  meaning: `Which series change between success and failure, and is that more than chance? The last 20 finished builds of each series count. Series with fewer than ${MIN_FINISHED} are left out.`,
  filters: CUTS,
  limit: ROWS,
  ask: (filters) => askFor("instability", filters, () => [`finished >= ${MIN_FINISHED}`]),
  columns: [
    ...SERIES,
    countOf("Finished", "finished"),
    countOf("Failed", "failed"),
    countOf("Flips", "flips"),
    shareOf("Flip rate", "flip_rate"),
    shareOf("by chance", "flip_rate_by_chance"),
  ],
  empty: `No series has ${MIN_FINISHED} finished builds yet.`,
};

export const INCIDENT_HOURS: BlockSpec = {
  id: "incident-hours",
  title: "Incident hours",
  relation: "incident_hours",
  filters: ["since", "until"],
  limit: ROWS,
  ask: (filters) => askFor("incident_hours", filters),
  columns: [
    { ...momentOf("Hour", "hour"), isName: true },
    countOf("Projects", "projects"),
    countOf("Failing", "projects_failing"),
    {
      head: "Expected",
      isNumber: true,
      cell: ({ projects_expected: expected }) => (expected === null ? null : Number(expected).toFixed(1)),
    },
    {
      head: "Chance",
      isNumber: true,
      cell: ({ probability }) => (probability === null ? null : Number(probability).toExponential(1)),
    },
    countOf("Builds", "builds"),
    countOf("Failed", "failed"),
  ],
  empty: "In no hour did more projects fail than their own rates explain.",
};

export const BY_PROJECT: BlockSpec = {
  id: "projects",
  title: "Projects",
  relation: "success_rate_by_project",
  meaning:
    "How often do the builds of each project succeed? All builds of a project count. The projects that most certainly fail often come first.",
  filters: [],
  limit: ROWS,
  ask: (filters) => askFor("success_rate_by_project", filters),
  columns: [
    PROJECT,
    ...RATE,
    countOf("Finished", "finished"),
    countOf("Failed", "failed"),
    countOf("Unfinished", "unfinished"),
    momentOf("Last build", "last_triggered_at"),
  ],
  empty: "No project has a build.",
};

export const BY_VERSION: BlockSpec = {
  id: "versions",
  title: "Versions",
  relation: "success_rate_by_version",
  filters: ["version"],
  limit: ROWS,
  ask: (filters) => askFor("success_rate_by_version", filters),
  columns: [
    { ...VERSION, isName: true },
    ...RATE,
    countOf("Finished", "finished"),
    countOf("Failed", "failed"),
    countOf("Unfinished", "unfinished"),
    momentOf("Last build", "last_triggered_at"),
  ],
  empty: "No version has a build.",
};

export const BY_TYPE: BlockSpec = {
  id: "types",
  title: "Types",
  relation: "success_rate_by_type",
  filters: [],
  limit: ROWS,
  ask: (filters) => askFor("success_rate_by_type", filters),
  columns: [
    { ...TYPE, isName: true },
    ...RATE,
    countOf("Finished", "finished"),
    countOf("Failed", "failed"),
    countOf("Projects", "projects"),
  ],
  empty: "There is no build.",
};

export const LAST_BUILDS: BlockSpec = {
  id: "last-builds",
  title: "Last builds",
  relation: "fact_builds",
  meaning: "How did the newest builds end? One row for each build.",
  filters: ["since", "until", "version", "type"],
  limit: ROWS,
  ask: (filters) => askFor("fact_builds", filters),
  columns: [
    buildIn("Build", "build_id", true),
    VERSION,
    TYPE,
    momentOf("Triggered", "triggered_at"),
    OUTCOME,
    between("Took", "duration_s_min", "duration_s_max"),
    textIn("Error class", "error_class", 32),
    textIn("Error line", "output_excerpt", 80),
  ],
  empty: "No build was triggered in this time.",
};

export const LAST_FAILURES: BlockSpec = {
  ...LAST_BUILDS,
  id: "last-failures",
  title: "Last failures",
  meaning: "Why did the newest builds fail? One row for each failed build.",
  ask: (filters) => askFor("fact_builds", filters, () => ["failed = 1"]),
  columns: LAST_BUILDS.columns.filter((column) => column !== OUTCOME),
  empty: "No build failed in this time.",
};

export const FRESHNESS: BlockSpec = {
  id: "freshness",
  title: "How fresh each list is",
  relation: "freshness",
  filters: [],
  isOfBuilds: false,
  limit: ROWS,
  ask: (filters) => askFor("freshness", filters),
  columns: [
    { ...textIn("Resource", "resource", 24), isName: true },
    momentOf("Current through", "current_through"),
    textIn("Last walk", "last_walk", 16),
    momentOf("Last whole walk", "last_whole_at"),
    eitherOf("Ended well", "is_whole", { yes: "✓ yes", no: "✗ no" }),
    countOf("Records", "records"),
    countOf("Deleted", "deleted_records"),
    countOf("In quarantine", "quarantined"),
  ],
  empty: "No list has been read yet.",
};

import { PROJECT, RATE, REFERENCE, SERIES } from "./shared-columns.ts";

/** What fails now: by series, and by project; and what does not. */
export const FAILING = {
  failing_now: {
    answers:
      "What fails now? One row per series (project, version, type) whose last finished build failed, without deleted projects and versions.",
    columns: {
      ...SERIES,
      failures: "Consecutive finished builds that failed.",
      failing_since: "When the first of them was triggered.",
      first_failed_build_id: "The first of these failures.",
      last_failed_at: "When the last of them was triggered.",
      last_failed_build_id: "The last of them.",
      last_succeeded_at: "When the last build that succeeded was triggered; null where none did.",
      last_succeeded_build_id: "That build; null where none did.",
      error_class: "The error class of the last failure.",
      error_fingerprint: "The fingerprint of the last failure.",
      output_excerpt: "The same as error_line, by its older name.",
      is_default_version:
        "Whether the version is its project's default one, which readers see first; latest where the project names none.",
      is_main: "Whether this is the main documentation: html of the default version.",
      is_active: "Whether the version's documentation is kept up to date; null where that is not known.",
      last_built_at: "When the last build of the series was triggered, whatever became of it.",
      ...REFERENCE,
      error_line: "The error line of the last failure.",
    },
  },
  failing_projects: {
    answers:
      "Which projects fail now, and what broke last? One row per project of failing_now, and one for " +
      "all unknown projects: its newest break, and how many series fail.",
    columns: {
      ...SERIES,
      is_main: "Whether the newest break is of the main documentation: html of the default version.",
      failures: "Consecutive finished builds of that series that failed.",
      failing_since: "When the first of them was triggered.",
      first_failed_build_id: "The first of these failures.",
      last_failed_at: "When the last of them was triggered.",
      last_failed_build_id: "The last of them.",
      last_succeeded_at:
        "When the last build of that series that succeeded was triggered; null where none did.",
      last_succeeded_build_id: "That build; null where none did.",
      error_class: "The error class of the last failure.",
      error_fingerprint: "The fingerprint of the last failure.",
      output_excerpt: "The same as error_line, by its older name.",
      failing: "How many series of the project fail, this one included.",
      is_main_failing: "Whether its main documentation fails, now or for longer.",
      main_failing_since: "When that began to fail; null where it does not fail.",
      worked_before: "Whether any series that fails has ever succeeded.",
      error_line: "The error line of the last failure.",
    },
  },
  project_states: {
    answers: "Which projects are good, and which fail? One row per project that the service still has.",
    columns: {
      ...PROJECT,
      project_name: "The project's name; the slug where it has none.",
      state:
        "main_failing: html of the default version fails; failing: another series fails; good: the last " +
        "finished build of each series succeeded; unknown: no version that exists has a finished build.",
      failing: "How many of its series fail now, as in failing_now.",
      failing_since: "When the newest of these failures began; null where nothing fails.",
      main_failing_since: "When its main documentation began to fail; null where it does not.",
      stuck: "Its builds that are stuck, as in stuck_builds.",
      ...RATE,
      last_triggered_at: "When its last build was triggered; null where none has a date.",
    },
  },
} as const;

/**
 * Every answer of schema `report` computed again in plain TypeScript, from what src/report/dictionary.ts says and nothing that the SQL does. The
 * dimensions, `freshness`, `runs`, `error_rules` and `data_dictionary` are not among them: they show rows as they are.
 */

import { RELATIONS, type Relation } from "../../src/report/dictionary.ts";
import { arrivals, arrivalsHourly } from "./model/arrivals.ts";
import { backlog, phasesOf } from "./model/backlog.ts";
import { type Calendar, dailyRates, dailyRatesByProject, dailyTimes, firstDayOf } from "./model/calendar.ts";
import { errorClasses, errorFingerprints, errorFingerprintsDaily, errorLines } from "./model/errors.ts";
import { computeFacts, type Fact, isOver, lengthOf, type Settings, UNKNOWN_ID } from "./model/facts.ts";
import { groupBy } from "./model/group-by.ts";
import { incidentHours, ratesWithoutPlatform } from "./model/incidents.ts";
import {
  byProject,
  cancelledOf,
  projectColumns,
  projectMeanOf,
  projectsOf,
  type Row,
  rateOf,
  regressions,
  unfinishedOf,
} from "./model/rates.ts";
import type { Raw } from "./model/raw.ts";
import { timeToRecover } from "./model/recovery-times.ts";
import {
  brokeDaily,
  failingNow,
  failingProjects,
  instability,
  isMain,
  projectStates,
  recoveries,
  seriesColumns,
  streaks,
} from "./model/series.ts";
import {
  dayOf,
  dayText,
  isoWeekText,
  type Micros,
  mondayOf,
  parseDay,
  secondsOf,
  textOf,
} from "./model/times.ts";

/** They show rows as they are. */
const NOT_MODELLED = [
  ...(["dim_projects", "dim_versions", "dim_dates", "fact_months", "error_rules", "freshness"] as const),
  ...(["runs", "walks", "quarantine", "broken_references", "schema_changes", "muted_projects"] as const),
  ...(["data_dictionary", "log_sizes", "project_changes", "files"] as const),
] as const;
export type Modelled = Exclude<Relation, (typeof NOT_MODELLED)[number]>;
export const MODELLED = RELATIONS.filter(
  (name): name is Modelled => !NOT_MODELLED.some((not) => not === name),
);
export type Answers = Record<Modelled, Row[]>;

/** `today` is a day in UTC, `2026-11-21`. Rows come in no particular order; `fact_builds` has no `updated_at`. */
export function computeReport(raw: Raw, settings: Settings): Answers {
  const facts = computeFacts(raw, settings);
  const coveredThrough = coveredThroughOf(raw);
  const phases = phasesOf(raw);
  const calendar: Calendar = { today: settings.today, firstDay: firstDayOf(facts), coveredThrough };
  return {
    fact_builds: facts.map((fact) => ({ ...factRow(fact), ...phases(fact) })),
    success_rate_daily: dailyRates(facts, calendar),
    success_rate_daily_by_project: dailyRatesByProject(facts, calendar),
    success_rate_by_project: [...byProject(facts).values()].map((own) => ({
      ...projectColumns(own[0] as Fact),
      ...rateOf(own),
      ...unfinishedOf(own),
      ...cancelledOf(own),
      versions: new Set(own.flatMap(({ version }) => (version.id === UNKNOWN_ID ? [] : [version.id]))).size,
      ...spanOf(own),
    })),
    success_rate_by_type: [...groupBy(facts, (fact) => fact.type)].map(([type, own]) => ({
      type,
      ...rateOf(own),
      ...projectMeanOf(own),
      ...projectsOf(own),
      ...unfinishedOf(own),
      ...cancelledOf(own),
    })),
    build_times_daily: dailyTimes(facts, calendar),
    regressions: regressions(
      facts,
      coveredThrough === null ? parseDay(settings.today) : dayOf(coveredThrough),
    ),
    failing_now: failingNow(facts),
    failing_projects: failingProjects(facts),
    project_states: projectStates(raw, facts),
    streaks: streaks(facts, coveredThrough),
    recoveries: recoveries(streaks(facts, coveredThrough)),
    time_to_recover: timeToRecover(facts, coveredThrough),
    instability: instability(facts),
    broke_daily: brokeDaily(facts, calendar),
    open_builds: facts.filter(isOpen).map(openRow),
    backlog: backlog(facts, raw, calendar),
    arrivals: arrivals(facts, raw, coveredThrough),
    arrivals_hourly: arrivalsHourly(facts, coveredThrough),
    incident_hours: incidentHours(facts),
    error_classes: errorClasses(facts, calendar),
    error_fingerprints: errorFingerprints(facts, calendar),
    error_lines: errorLines(facts, calendar),
    error_fingerprints_daily: errorFingerprintsDaily(facts),
    success_rate_without_platform: ratesWithoutPlatform(facts, settings.rules, calendar),
  };
}

const isOpen = ({ outcome, state }: Fact): boolean =>
  outcome === "open" || outcome === "stuck" || (outcome === "unknown_state" && !isOver(state));

function coveredThroughOf({ walks }: Raw): Micros | null {
  const good = walks.filter(
    ({ walk, finished_at }) => finished_at !== null && (walk === "whole" || walk === "head"),
  );
  const isKnown = good.some(({ walk }) => walk === "whole");
  const [newest] = good.toSorted((one, other) => other.run_id - one.run_id);
  return isKnown && newest ? newest.started_at : null;
}

function factRow(fact: Fact): Row {
  const day = fact.at === null ? null : dayOf(fact.at);
  const result = fact.outcome === "succeeded" ? 1 : fact.outcome === "failed" ? 0 : null;
  return {
    build_id: fact.id,
    ...seriesColumns(fact),
    project_name: fact.project.name,
    version_name: fact.version.name,
    is_main: isMain(fact),
    state: fact.state,
    outcome: fact.outcome,
    succeeded: result,
    failed: result === null ? null : 1 - result,
    triggered_at: textOf(fact.at),
    triggered_on: day === null ? null : dayText(day),
    triggered_week: day === null ? null : dayText(mondayOf(day)),
    triggered_iso_week: day === null ? null : isoWeekText(day),
    triggered_month: day === null ? null : dayText(day).slice(0, 7),
    is_time_ambiguous: fact.isAmbiguous,
    finished_after: textOf(fact.finishedAfter),
    finished_before: textOf(fact.finishedBefore),
    duration_s_min: secondsOf(fact.shortestUs),
    duration_s_max: secondsOf(fact.longestUs),
    duration_s: lengthOf(fact),
    error_class: fact.error?.class ?? null,
    error_fingerprint: fact.error?.fingerprint ?? null,
    first_seen_at: textOf(fact.firstSeenAt),
    deleted_at: textOf(fact.deletedAt),
    is_settled: fact.isSettled,
    reference: fact.reference === null ? "(none)" : fact.reference || null,
    is_dated_ahead: fact.isAhead,
    error_line_id: fact.error?.lineId ?? null,
    error_line: fact.error?.line ?? null,
  };
}

/** Facts are in the order of time. */
function spanOf(facts: readonly Fact[]): Row {
  const dated = facts.filter(({ at }) => at !== null);
  return { first_triggered_at: textOf(dated[0]?.at), last_triggered_at: textOf(dated.at(-1)?.at) };
}

function openRow(fact: Fact): Row {
  return {
    build_id: fact.id,
    ...seriesColumns(fact),
    state: fact.state,
    outcome: fact.outcome,
    triggered_at: textOf(fact.at),
    last_seen_at: textOf(fact.seenAt),
    age_s: secondsOf(fact.ageUs),
  };
}

/** Answers by series (project, version, type, and what names an unknown one): what is broken, what was fixed, what changes too often. */

import type { Fact } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import { isFailure, isRated, isSuccess, projectColumns, type Row, versionColumns } from "./rates.ts";
import { adjustForTries, chanceOfFlips } from "./runs.ts";
import { DAY_US, HOUR_US, type Micros, momentText, parseDay, SECOND_US } from "./times.ts";

const LOOKED_AT = 20;
const LIMIT = 0.05;

const textOf = (at: Micros | null | undefined): string | null => (at == null ? null : momentText(at));
const seconds = (us: number | null): number | null => (us === null ? null : us / SECOND_US);

export const seriesColumns = (fact: Fact): Row => ({
  ...projectColumns(fact),
  ...versionColumns(fact),
  type: fact.type,
});

const keyOf = ({ project, version, type, reference }: Fact) =>
  JSON.stringify([project.id, version.id, type, reference]);

/** The finished builds of each series, in their order. */
function ratedSeries(facts: readonly Fact[]): Fact[][] {
  const known = facts.filter(({ reference }) => reference !== null);
  return [...groupBy(known.filter(isRated), keyOf).values()];
}

const referenceColumn = ({ reference }: Fact): Row => ({ reference: reference || null });

/** Failures in a row, with the success before and after them. */
export interface Streak {
  failures: Fact[];
  before: Fact | null;
  after: Fact | null;
}

function streaksOf(series: readonly Fact[]): Streak[] {
  const streaks: Streak[] = [];
  let success: Fact | null = null;
  let current: Streak | null = null;
  for (const fact of series) {
    if (isFailure(fact)) {
      current ??= { failures: [], before: success, after: null };
      current.failures.push(fact);
    } else {
      if (current !== null) streaks.push({ ...current, after: fact });
      current = null;
      success = fact;
    }
  }
  return current === null ? streaks : [...streaks, current];
}

export const allStreaks = (facts: readonly Fact[]): Streak[] => ratedSeries(facts).flatMap(streaksOf);

/** Whether a build is of the main documentation: the version that readers of its project see first, as html. */
export const isMain = (fact: Fact): boolean => isDefault(fact) && fact.type === "html";

const isDefault = ({ project, version }: Fact): boolean =>
  version.slug === (project.defaultVersion || "latest");

/** What failed at the end of a day: of each series, the last build that was triggered until then. */
export function failingOn(facts: readonly Fact[], day: string): Row[] {
  const end = (parseDay(day) + 1) * DAY_US;
  const isGone = ({ deletedAt }: { deletedAt: Micros | null }) => deletedAt !== null && deletedAt < end;
  return ratedSeries(facts).flatMap((series) => {
    const known = series.filter(({ at }) => at === null || at < end);
    const streak = streaksOf(known).find(({ after }) => after === null);
    const first = streak?.failures[0];
    if (!first || isGone(first.project) || isGone(first.version)) return [];
    const recovery = series.slice(known.length).find(isSuccess);
    return {
      ...seriesColumns(first),
      failing_since: textOf(first.at),
      first_failed_build_id: first.id,
      error_class: first.error?.class ?? null,
      recovered_at: textOf(recovery?.at),
      ...referenceColumn(first),
    };
  });
}

export function failingNow(facts: readonly Fact[]): Row[] {
  const all = groupBy(facts, keyOf);
  const lastOf = (fact: Fact): Micros | null =>
    (all.get(keyOf(fact)) ?? []).reduce<Micros | null>(
      (last, { at }) => (at === null || (last !== null && at < last) ? last : at),
      null,
    );
  return ratedSeries(facts).flatMap((series) => {
    const streak = streaksOf(series).find(({ after }) => after === null);
    const [first, last] = [streak?.failures[0], streak?.failures.at(-1)];
    if (!streak || !first || !last || last.project.isDeleted || last.version.isDeleted) return [];
    return {
      ...seriesColumns(last),
      failures: streak.failures.length,
      failing_since: textOf(first.at),
      first_failed_build_id: first.id,
      last_failed_at: textOf(last.at),
      last_failed_build_id: last.id,
      last_succeeded_at: textOf(streak.before?.at),
      last_succeeded_build_id: streak.before?.id ?? null,
      error_class: last.error?.class ?? null,
      error_fingerprint: last.error?.fingerprint ?? null,
      is_default_version: isDefault(last),
      is_main: isMain(last),
      is_active: last.version.isActive,
      last_built_at: textOf(lastOf(last)),
      reference: last.reference || null,
      error_line: last.error?.line ?? null,
    };
  });
}

/** One row for each project of `failingNow`: the newest break. Texts of moments sort by time; one of none comes last. */
export function failingProjects(facts: readonly Fact[]): Row[] {
  const since = (row: Row): string => String(row.failing_since ?? "");
  return [...groupBy(failingNow(facts), ({ project_id }) => String(project_id)).values()].map((series) => {
    const [newest = {}] = series.toSorted(
      (a, b) =>
        (since(a) < since(b) ? 1 : since(a) > since(b) ? -1 : 0) ||
        Number(b.is_main) - Number(a.is_main) ||
        Number(b.is_default_version) - Number(a.is_default_version) ||
        compare(a, b, ["version_slug", "version_id", "type", "last_failed_build_id"]),
    );
    const { is_default_version, is_active, last_built_at, reference, ...row } = newest;
    const main = series.filter((one) => one.is_main === true);
    return {
      ...row,
      failing: series.length,
      is_main_failing: main.length > 0,
      main_failing_since: main.map(since).filter(Boolean).toSorted().at(-1) ?? null,
      worked_before: series.some((one) => one.last_succeeded_build_id !== null),
    };
  });
}

function compare(a: Row, b: Row, columns: readonly string[]): number {
  for (const column of columns) {
    const [one, other] = [String(a[column]), String(b[column])];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

export function recoveries(facts: readonly Fact[], coveredThrough: Micros | null): Row[] {
  return allStreaks(facts).flatMap(({ failures, before, after }) => {
    const [first] = failures;
    if (!first) return [];
    const tookUs = after?.at == null || first.at === null ? null : after.at - first.at;
    const failedBefore = first.finishedBefore ?? Infinity;
    const least = (after ? after.finishedAfter : coveredThrough) ?? -Infinity;
    const most =
      after?.finishedBefore == null || first.finishedAfter === null
        ? null
        : Math.max(0, after.finishedBefore - first.finishedAfter);
    return {
      ...seriesColumns(first),
      failures: failures.length,
      first_failed_build_id: first.id,
      failed_after: textOf(first.finishedAfter),
      failed_before: textOf(first.finishedBefore),
      recovered_build_id: after?.id ?? null,
      recovered_at: textOf(after?.at),
      recovered_after: textOf(after?.finishedAfter),
      recovered_before: textOf(after?.finishedBefore),
      recovery_s_min: seconds(Math.max(0, least - failedBefore)),
      recovery_s_max: seconds(most),
      is_open: after === null,
      is_overlapped: after !== null && (after.finishedAfter ?? -Infinity) < failedBefore,
      error_class: first.error?.class ?? null,
      broke_at: textOf(first.at),
      worked_before: before !== null,
      hours_to_recover: tookUs === null ? null : tookUs / HOUR_US,
      ...referenceColumn(first),
    };
  });
}

export function instability(facts: readonly Fact[]): Row[] {
  const rows = ratedSeries(facts).flatMap((series) => {
    const last = series.slice(-LOOKED_AT);
    const [first] = last;
    if (!first || last.length < 2) return [];
    const succeeded = last.filter(isSuccess).length;
    const failed = last.length - succeeded;
    const flips = last.slice(1).filter((fact, index) => fact.outcome !== last[index]?.outcome).length;
    const chances = chanceOfFlips(succeeded, failed);
    return {
      ...seriesColumns(first),
      finished: last.length,
      succeeded,
      failed,
      flips,
      flip_rate: flips / (last.length - 1),
      // The mean over all orders.
      flip_rate_by_chance: chances.reduce((sum, chance, many) => sum + chance * many, 0) / (last.length - 1),
      p_value:
        succeeded === 0 || failed === 0
          ? null
          : chances.slice(flips).reduce((sum, chance) => sum + chance, 0),
      ...referenceColumn(first),
    };
  });
  const adjusted = adjustForTries(rows.flatMap(({ p_value }) => p_value ?? []));
  return rows.map((row) => {
    const p = row.p_value === null ? null : (adjusted.get(row.p_value) ?? null);
    return { ...row, p_value_adjusted: p, is_flaky: p !== null && p <= LIMIT };
  });
}

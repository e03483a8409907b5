/** Answers by series (project, version, type, and what names an unknown one): what is broken, what was fixed, what changes too often. */
import { type Calendar, coverageOf, dayOfFact, daysOf } from "./calendar.ts";
import { type Fact, UNKNOWN_ID } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import {
  byProject,
  countProjects,
  isFailure,
  isRated,
  isSuccess,
  projectColumns,
  type Row,
  rateOf,
  versionColumns,
} from "./rates.ts";
import type { Raw } from "./raw.ts";
import {
  DAY_US,
  dayOf,
  dayText,
  HOUR_US,
  type Micros,
  momentText,
  parseDay,
  secondsOf,
  textOf,
} from "./times.ts";

const LOOKED_AT = 20;
const LIMIT = 0.05;

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
  version.projectId === project.id && version.slug === (project.defaultVersion || "latest");

/** What failed at the end of a day: of each series, the last build that was triggered until then. */
export function failingOn(facts: readonly Fact[], day: string): Row[] {
  const all = groupBy(facts, keyOf);
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
      series_since: firstMoment(all.get(keyOf(first)) ?? []),
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

/** One row for each project of `failingNow`: the worst of it. Texts of moments sort by time; one of none comes last. */
export function failingProjects(facts: readonly Fact[]): Row[] {
  const since = (row: Row): string => String(row.failing_since ?? "~");
  const moments = (rows: readonly Row[]) =>
    rows
      .map(since)
      .filter((one) => one !== "~")
      .toSorted();
  return [...groupBy(failingNow(facts), ({ project_id }) => String(project_id)).values()].map((series) => {
    const [worst = {}] = series.toSorted(
      (a, b) =>
        Number(b.is_main) - Number(a.is_main) ||
        Number(a.last_succeeded_build_id === null) - Number(b.last_succeeded_build_id === null) ||
        (since(a) < since(b) ? -1 : since(a) > since(b) ? 1 : 0) ||
        Number(b.is_default_version) - Number(a.is_default_version) ||
        compare(a, b, ["version_slug", "version_id", "type", "last_failed_build_id"]),
    );
    const { is_default_version, is_active, last_built_at, reference, ...row } = worst;
    const main = series.filter((one) => one.is_main === true);
    return {
      ...row,
      failing: series.length,
      is_main_failing: main.length > 0,
      main_failing_since: moments(main)[0] ?? null,
      worked_before: series.some((one) => one.last_succeeded_build_id !== null),
      newest_failing_since: moments(series).at(-1) ?? null,
      oldest_failing_since: moments(series)[0] ?? null,
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

/** Those that no deletion ended. */
export const recoveries = (all: readonly Row[]): Row[] =>
  all.filter((row) => !(row.is_open && row.is_deleted)).map(({ is_deleted, series_since, ...row }) => row);

export function streaks(facts: readonly Fact[], coveredThrough: Micros | null): Row[] {
  const all = groupBy(facts, keyOf);
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
      recovery_s_min: secondsOf(Math.max(0, least - failedBefore)),
      recovery_s_max: secondsOf(most),
      is_open: after === null,
      is_overlapped: after !== null && (after.finishedAfter ?? -Infinity) < failedBefore,
      error_class: first.error?.class ?? null,
      broke_at: textOf(first.at),
      worked_before: before !== null,
      is_main: isMain(first),
      is_deleted: first.project.isDeleted || first.version.isDeleted,
      hours_to_recover: tookUs === null ? null : tookUs / HOUR_US,
      series_since: firstMoment(all.get(keyOf(first)) ?? []),
      ...referenceColumn(first),
    };
  });
}

function firstMoment(facts: readonly Fact[]): string | null {
  const moments = facts.flatMap(({ at }) => (at === null ? [] : [at]));
  return moments.length === 0 ? null : momentText(Math.min(...moments));
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

/** The chance of 0, 1, 2, … flips, when so many successes and failures come in any order. */
export function chanceOfFlips(succeeded: number, failed: number): number[] {
  /** The orders of what is left, after a success or a failure, by their flips. */
  const ordersAfter = (last: boolean | null, successes: number, failures: number): number[] => {
    const key = `${last} ${successes} ${failures}`;
    const counted = known.get(key);
    if (counted) return counted;
    const orders: number[] = [];
    const add = (next: boolean, more: readonly number[]) => {
      const flip = last !== null && last !== next ? 1 : 0;
      for (const [flips, count] of more.entries()) orders[flips + flip] = (orders[flips + flip] ?? 0) + count;
    };
    if (successes + failures === 0) orders[0] = 1;
    if (successes > 0) add(true, ordersAfter(true, successes - 1, failures));
    if (failures > 0) add(false, ordersAfter(false, successes, failures - 1));
    const filled = Array.from(orders, (count) => count ?? 0);
    known.set(key, filled);
    return filled;
  };
  const orders = ordersAfter(null, succeeded, failed);
  const all = orders.reduce((sum, count) => sum + count, 0);
  return orders.map((count) => count / all);
}

const known = new Map<string, number[]>();

/** Benjamini and Hochberg's step up: from the largest value down, none is adjusted to more than the one above it. */
export function adjustForTries(values: readonly number[]): Map<number, number> {
  const adjusted = new Map<number, number>();
  let least = 1;
  for (const [above, value] of values.toSorted((a, b) => b - a).entries()) {
    least = Math.min(least, (value * values.length) / (values.length - above));
    adjusted.set(value, least);
  }
  return adjusted;
}

type Turn = { day: number; what: "broke" | "fixed" | "born_broken"; of: Fact };

function turnsOf(facts: readonly Fact[]): Turn[] {
  return allStreaks(facts).flatMap(({ failures: [first], before, after }): Turn[] => {
    const turns: [Fact | null | undefined, Turn["what"]][] = [
      [first, before === null ? "born_broken" : "broke"],
      [after, "fixed"],
    ];
    return turns.flatMap(([of, what]) => (of && of.at !== null ? [{ day: dayOf(of.at), what, of }] : []));
  });
}

function countsOf(turns: readonly Turn[], coverage: Row): Row {
  const none = coverage.is_covered || turns.length > 0 ? 0 : null;
  const of = (what: Turn["what"]) => turns.filter((turn) => turn.what === what).map((turn) => turn.of);
  const both = { broke: of("broke"), fixed: of("fixed"), born_broken: of("born_broken") };
  const columns = Object.entries(both).flatMap(([what, own]): [string, number | null][] => [
    [what, own.length || none],
    [`projects_${what}`, countProjects(own) || none],
  ]);
  return { ...Object.fromEntries(columns), ...coverage };
}

export function brokeDaily(facts: readonly Fact[], calendar: Calendar): Row[] {
  const dated = facts.filter(({ at }) => at !== null);
  if (dated.length === 0) return [];
  const turns = groupBy(turnsOf(facts), ({ day }) => day);
  const byDay = groupBy(dated, dayOfFact);
  return daysOf(dated, calendar).map((day) => {
    const coverage = coverageOf(byDay.get(day) ?? [], day, calendar);
    return { day: dayText(day), ...countsOf(turns.get(day) ?? [], coverage) };
  });
}

export function projectStates({ projects }: Raw, facts: readonly Fact[]): Row[] {
  const failing = failingNow(facts);
  const worst = new Map(failingProjects(facts).map((row) => [row.project_id, row]));
  const factsOf = byProject(facts);
  return projects
    .filter(({ id, isDeleted }) => !isDeleted && id !== UNKNOWN_ID)
    .map(({ id, slug, name }) => {
      const own = factsOf.get(id) ?? [];
      const fails = failing.filter(({ project_id }) => project_id === id);
      const main = fails.filter(({ is_main }) => is_main === true);
      const isKnown = own.some((fact) => isRated(fact) && fact.reference !== null && !fact.version.isDeleted);
      const isMainKnown = own.some((fact) => isRated(fact) && isMain(fact) && !fact.version.isDeleted);
      const moments = own.flatMap(({ at }) => (at === null ? [] : [at]));
      return {
        project_id: id,
        project_slug: slug ?? id,
        project_name: name ?? slug ?? id,
        state: main.length > 0 ? "main_failing" : fails.length > 0 ? "failing" : isKnown ? "good" : "unknown",
        failing: fails.length,
        failing_since: worst.get(id)?.failing_since ?? null,
        newest_failing_since: newest(fails),
        main_failing_since: newest(main),
        stuck: own.filter(({ outcome }) => outcome === "stuck").length,
        ...rateOf(own),
        last_triggered_at: moments.length === 0 ? null : momentText(Math.max(...moments)),
        oldest_failing_since: worst.get(id)?.oldest_failing_since ?? null,
        last_succeeded_at: textOf(own.findLast((fact) => isSuccess(fact) && fact.at !== null)?.at),
        main_state: main.length > 0 ? "failing" : isMainKnown ? "good" : "unknown",
      };
    });
}

/** Texts of moments sort by time. */
function newest(fails: readonly Row[]): string | null {
  const moments = fails.flatMap(({ failing_since }) =>
    failing_since === null ? [] : [String(failing_since)],
  );
  return moments.toSorted().at(-1) ?? null;
}

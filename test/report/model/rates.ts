/** Success rates, with what stands beside them, and projects that got worse. */
import { type Fact, UNKNOWN_ID } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import { dayOf } from "./times.ts";

/** A row of a relation, by its columns. Times are texts as Postgres prints them. */
export type Row = Record<string, string | number | boolean | null>;

const Z = 1.96;

export const isSuccess = ({ outcome }: Fact): boolean => outcome === "succeeded";
export const isFailure = ({ outcome }: Fact): boolean => outcome === "failed";
export const isRated = (fact: Fact): boolean => isSuccess(fact) || isFailure(fact);

export function rateOf(facts: readonly Fact[]): Row {
  const succeeded = facts.filter(isSuccess).length;
  const failed = facts.filter(isFailure).length;
  const finished = succeeded + failed;
  const [low, high] = finished === 0 ? [null, null] : wilson(succeeded, finished);
  return {
    builds: facts.length,
    finished,
    succeeded,
    failed,
    success_rate: finished === 0 ? null : succeeded / finished,
    success_rate_low: low,
    success_rate_high: high,
  };
}

/** The rates whose own deviation would explain what was seen: the roots of (share - rate)² = z² rate (1 - rate) / n. */
export function wilson(succeeded: number, n: number): [number, number] {
  const share = succeeded / n;
  const a = 1 + (Z * Z) / n;
  const b = -(2 * share + (Z * Z) / n);
  const root = Math.sqrt(Math.max(0, b * b - 4 * a * share * share));
  const clamp = (rate: number) => Math.min(1, Math.max(0, rate));
  return [clamp((-b - root) / (2 * a)), clamp((-b + root) / (2 * a))];
}

export function projectMeanOf(facts: readonly Fact[]): Row {
  const rates = [...byProject(facts.filter((fact) => isRated(fact) && isOfKnownProject(fact))).values()].map(
    (own) => own.filter(isSuccess).length / own.length,
  );
  const mean = rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  return { success_rate_project_mean: mean };
}

const isOfKnownProject = ({ project }: Fact): boolean => project.id !== UNKNOWN_ID;
export const countProjects = (facts: readonly Fact[]): number =>
  byProject(facts.filter(isOfKnownProject)).size;

export const projectsOf = (facts: readonly Fact[]): Row => ({ projects: countProjects(facts) });
export const unfinishedOf = (facts: readonly Fact[]): Row => ({
  unfinished: facts.filter((fact) => !isRated(fact) && !isCancelled(fact)).length,
});

const isCancelled = ({ outcome }: Fact): boolean => outcome === "cancelled";
export const cancelledOf = (facts: readonly Fact[]): Row => ({ cancelled: facts.filter(isCancelled).length });

export const stuckOf = (facts: readonly Fact[]): Row => ({
  stuck: facts.filter(({ outcome }) => outcome === "stuck").length,
});

export function byProject(facts: readonly Fact[]): Map<string, Fact[]> {
  return groupBy(facts, ({ project }) => project.id);
}

export const projectColumns = ({ project }: Fact): Row => ({
  project_id: project.id,
  project_slug: project.slug,
});
export const versionColumns = ({ version }: Fact): Row => ({
  version_id: version.id,
  version_slug: version.slug,
});

const LEAST = 20;

/** `lastDay` is the day with which the last 7 end. */
export function regressions(facts: readonly Fact[], lastDay: number): Row[] {
  return [...byProject(facts)].flatMap(([id, builds]) => {
    const between = (from: number, to: number) =>
      builds.filter(
        (fact) => isRated(fact) && fact.at !== null && dayOf(fact.at) >= from && dayOf(fact.at) <= to,
      );
    const late = between(lastDay - 6, lastDay);
    const early = between(lastDay - 34, lastDay - 7);
    if (id === UNKNOWN_ID || late.length < LEAST || early.length < LEAST) return [];
    const now = intervalOf(late);
    const before = intervalOf(early);
    const difference = now.rate - before.rate;
    const low = difference - Math.hypot(now.rate - now.low, before.high - before.rate);
    const high = difference + Math.hypot(now.high - now.rate, before.rate - before.low);
    if (high >= 0) return [];
    return [
      {
        ...projectColumns(builds[0] as Fact),
        finished_last_7_days: late.length,
        succeeded_last_7_days: now.succeeded,
        success_rate_last_7_days: now.rate,
        finished_28_days_before: early.length,
        succeeded_28_days_before: before.succeeded,
        success_rate_28_days_before: before.rate,
        difference,
        difference_low: low,
        difference_high: high,
        last_failed_build_id: late.findLast(isFailure)?.id ?? null,
      },
    ];
  });
}

function intervalOf(facts: readonly Fact[]) {
  const succeeded = facts.filter(isSuccess).length;
  const [low, high] = wilson(succeeded, facts.length);
  return { succeeded, rate: succeeded / facts.length, low, high };
}

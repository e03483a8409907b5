/** Hours in which far more projects failed than they do at other times, and success rates apart from what the platform did. */
import { type Calendar, dailyRates } from "./calendar.ts";
import { type ErrorRule, type Fact, UNKNOWN_ID } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import { isFailure, isRated, type Row, rateOf } from "./rates.ts";
import { dayOf, dayText, HOUR_US, momentText } from "./times.ts";

const LEAST_PROJECTS = 8;
const LARGEST_PROBABILITY = 1e-5;
/** How many hours of all projects a project's own hours are mixed with. */
const PRIOR_HOURS = 5;

interface ProjectHour {
  hour: number;
  project: string;
  builds: number;
  failed: number;
}

export function incidentHours(facts: readonly Fact[]): Row[] {
  const hours = projectHoursOf(facts);
  const failing = (some: readonly ProjectHour[]) => some.filter(({ failed }) => failed > 0).length;
  const overall = failing(hours) / hours.length;
  const ofProject = groupBy(hours, ({ project }) => project);
  return [...groupBy(hours, ({ hour }) => hour)].flatMap(([hour, projects]) => {
    let expected = 0;
    for (const { project } of projects) {
      const others = (ofProject.get(project) ?? []).filter((other) => other.hour !== hour);
      expected += (failing(others) + PRIOR_HOURS * overall) / (others.length + PRIOR_HOURS);
    }
    const [n, hit] = [projects.length, failing(projects)];
    const probability = binomialTail(n, hit, expected / n);
    if (n < LEAST_PROJECTS || hit <= expected || probability > LARGEST_PROBABILITY) return [];
    return {
      hour: momentText(hour * HOUR_US),
      projects: n,
      projects_failing: hit,
      projects_expected: expected,
      probability,
      builds: projects.reduce((sum, { builds }) => sum + builds, 0),
      failed: projects.reduce((sum, { failed }) => sum + failed, 0),
    };
  });
}

function projectHoursOf(facts: readonly Fact[]): ProjectHour[] {
  const known = facts.filter((fact) => fact.at !== null && fact.project.id !== UNKNOWN_ID && isRated(fact));
  const hourOf = ({ at }: Fact) => Math.floor((at ?? 0) / HOUR_US);
  return [...groupBy(known, (fact) => `${hourOf(fact)} ${fact.project.id}`).values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const failed = own.filter(isFailure).length;
    return { hour: hourOf(first), project: first.project.id, builds: own.length, failed };
  });
}

/** The chance of `least` successes or more in `n` trials. */
function binomialTail(n: number, least: number, p: number): number {
  let tail = 0;
  for (let hits = least; hits <= n; hits++) {
    let ways = 1;
    for (let taken = 0; taken < hits; taken++) ways *= (n - taken) / (taken + 1);
    tail += ways * p ** hits * (1 - p) ** (n - hits);
  }
  return Math.min(1, tail);
}

export function ratesWithoutPlatform(
  facts: readonly Fact[],
  rules: readonly ErrorRule[],
  calendar: Calendar,
): Row[] {
  const hours = incidentHours(facts).map(({ hour }) => String(hour));
  const classes = new Set(rules.flatMap((rule) => (rule.is_platform ? rule.class : [])));
  const isOfPlatform = (fact: Fact): boolean =>
    hours.includes(hourText(fact)) || (isFailure(fact) && classes.has(fact.error?.class ?? ""));
  const kept = facts.filter((fact) => fact.at !== null && !isOfPlatform(fact));
  const keptByDay = groupBy(kept, ({ at }) => dayText(dayOf(at ?? 0)));
  return dailyRates(facts, calendar).map(
    ({ day, finished, succeeded, failed, success_rate, is_complete, is_covered }) => {
      const rate = rateOf(keptByDay.get(String(day)) ?? []);
      const whereKnown = (count: Row[string] | undefined) => (finished === null ? null : (count ?? null));
      return {
        day,
        finished,
        succeeded,
        failed,
        success_rate,
        finished_without_platform: whereKnown(rate.finished),
        succeeded_without_platform: whereKnown(rate.succeeded),
        failed_without_platform: whereKnown(rate.failed),
        success_rate_without_platform: rate.success_rate,
        success_rate_without_platform_low: rate.success_rate_low,
        success_rate_without_platform_high: rate.success_rate_high,
        incident_hours: whereKnown(hours.filter((hour) => hour.startsWith(String(day))).length),
        is_complete,
        is_covered,
      } as Row;
    },
  );
}

const hourText = ({ at }: Fact): string =>
  at === null ? "" : momentText(Math.floor(at / HOUR_US) * HOUR_US);

/** Hours in which far more projects failed than they do at other times. */

import { type Fact, UNKNOWN_ID } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import { isFailure, isRated, type Row } from "./rates.ts";
import { HOUR_US, momentText } from "./times.ts";

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

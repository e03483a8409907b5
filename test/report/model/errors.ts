/** Why builds fail: by class, by fingerprint and by line, of all time, by day and by week. */

import { type Calendar, dayOfFact } from "./calendar.ts";
import type { Fact } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import { countProjects, isFailure, type Row } from "./rates.ts";
import { dayOf, dayText, parseDay, textOf } from "./times.ts";

const SPAN_DAYS = 7;

const dated = (facts: readonly Fact[]): Fact[] => facts.filter(({ at }) => at !== null);
const classOf = ({ error }: Fact): string | null => error?.class ?? null;
const fingerprintOf = ({ error }: Fact): string | null => error?.fingerprint ?? null;

export function errorClasses(facts: readonly Fact[], calendar: Calendar): Row[] {
  return rankedBy(facts, classOf, calendar).map(({ last, row }) => ({ error_class: classOf(last), ...row }));
}

export function errorFingerprints(facts: readonly Fact[], calendar: Calendar): Row[] {
  return rankedBy(facts, fingerprintOf, calendar).map(({ last, row }) => ({
    error_class: classOf(last),
    error_fingerprint: fingerprintOf(last),
    ...row,
  }));
}

export function errorLines(facts: readonly Fact[], calendar: Calendar): Row[] {
  return rankedBy(facts, ({ error }) => error?.lineId ?? null, calendar).map(({ last, row }) => ({
    error_class: classOf(last),
    error_fingerprint: fingerprintOf(last),
    error_line_id: last.error?.lineId ?? null,
    error_line: last.error?.masked || null,
    ...row,
  }));
}

/** The failures with the same key, those of the most projects first. */
function rankedBy(facts: readonly Fact[], keyOf: (fact: Fact) => string | null, calendar: Calendar) {
  const failures = facts.filter(isFailure);
  const lastDay = lastDayOf(calendar);
  const within = (own: readonly Fact[], days: number) =>
    dated(own).filter((fact) => {
      const ago = lastDay - dayOfFact(fact);
      return ago >= days && ago < days + SPAN_DAYS;
    });
  return [...groupBy(failures, keyOf).values()]
    .map((own) => ({ own, last: own.at(-1) as Fact, projects: countProjects(own) }))
    .sort((a, b) => b.projects - a.projects || b.own.length - a.own.length)
    .map(({ own, last, projects }, index) => {
      const [recent, before] = [within(own, 0), within(own, SPAN_DAYS)];
      const row: Row = {
        rank: index + 1,
        example: last.error?.line ?? null,
        failures: own.length,
        failure_share: own.length / failures.length,
        projects,
        project_share: countProjects(failures) === 0 ? null : projects / countProjects(failures),
        first_triggered_at: textOf(dated(own)[0]?.at),
        last_triggered_at: textOf(dated(own).at(-1)?.at),
        last_build_id: last.id,
        failures_last_7_days: recent.length,
        failures_7_days_before: before.length,
        projects_last_7_days: countProjects(recent),
        projects_7_days_before: countProjects(before),
      };
      return { last, row };
    });
}

/** Spans end with the day up to which the list was read; with today where it never was. */
function lastDayOf({ today, coveredThrough }: Calendar): number {
  return coveredThrough === null ? parseDay(today) : dayOf(coveredThrough);
}

export function errorFingerprintsDaily(facts: readonly Fact[]): Row[] {
  const keyOf = (fact: Fact) => JSON.stringify([dayOfFact(fact), classOf(fact), fingerprintOf(fact)]);
  return [...groupBy(dated(facts).filter(isFailure), keyOf).values()].map((own) => {
    const one = own[0] as Fact;
    return {
      day: dayText(dayOfFact(one)),
      error_class: classOf(one),
      error_fingerprint: fingerprintOf(one),
      failures: own.length,
      projects: countProjects(own),
    };
  });
}

/** Success rates apart from what the platform did. */

import { type Calendar, dailyRates } from "./calendar.ts";
import type { ErrorRule, Fact } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import { incidentHours } from "./incidents.ts";
import { isFailure, type Row, rateOf } from "./rates.ts";
import { dayOf, dayText, HOUR_US, momentText } from "./times.ts";

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
        ...{ day, finished, succeeded, failed, success_rate },
        finished_without_platform: whereKnown(rate.finished),
        succeeded_without_platform: whereKnown(rate.succeeded),
        failed_without_platform: whereKnown(rate.failed),
        success_rate_without_platform: rate.success_rate,
        success_rate_without_platform_low: rate.success_rate_low,
        success_rate_without_platform_high: rate.success_rate_high,
        incident_hours: whereKnown(hours.filter((hour) => hour.startsWith(String(day))).length),
        ...{ is_complete, is_covered },
      } as Row;
    },
  );
}

const hourText = ({ at }: Fact): string =>
  at === null ? "" : momentText(Math.floor(at / HOUR_US) * HOUR_US);

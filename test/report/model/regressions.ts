/** Projects that got worse. */

import { type Fact, UNKNOWN_ID } from "./facts.ts";
import { byProject, isFailure, isRated, isSuccess, projectColumns, type Row, wilson } from "./rates.ts";
import { dayOf } from "./times.ts";

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
    const now = rateOf(late);
    const before = rateOf(early);
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

function rateOf(facts: readonly Fact[]) {
  const succeeded = facts.filter(isSuccess).length;
  const [low, high] = wilson(succeeded, facts.length);
  return { succeeded, rate: succeeded / facts.length, low, high };
}

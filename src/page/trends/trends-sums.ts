import type { Count } from "../parts/charts/difference.ts";
import { byDay } from "../parts/charts/trends-facts.ts";
import type { Days } from "../parts/period.ts";
import type { Row } from "../parts/row.ts";
import type { TurnCounts } from "./trends-compare.ts";
import type { TrendsAnswers } from "./trends-questions.ts";

/** All finished builds of both periods, and those that are no fault of the platform. */
export function plainOf(rows: readonly Row[]) {
  const of = (isThisPeriod: boolean) => {
    const row = rows.find(({ is_this_period }) => is_this_period === isThisPeriod);
    const count = (which: string): Count => ({
      succeeded: Number(row?.[`succeeded${which}`] ?? 0),
      finished: Number(row?.[`finished${which}`] ?? 0),
    });
    return { all: count(""), kept: count("_without_platform") };
  };
  return { now: of(true), before: of(false) };
}

/** What broke and what was fixed in the period that begins with `first`, and in the one before it. */
export function turnsOf(
  { turns, quick }: Pick<TrendsAnswers, "turns" | "quick">,
  { first }: Days,
): { now: TurnCounts; before: TurnCounts } {
  const of = (isThisPeriod: boolean): TurnCounts => {
    const sum = (name: string) =>
      [...byDay(turns, name)].reduce(
        (total, [day, count]) => (day >= first === isThisPeriod ? total + count : total),
        0,
      );
    const row = quick.find(({ is_this_period }) => is_this_period === isThisPeriod);
    return {
      broke: sum("broke"),
      fixed: sum("fixed"),
      quick: { succeeded: Number(row?.fixed ?? 0), finished: Number(row?.broke ?? 0) },
    };
  };
  return { now: of(true), before: of(false) };
}

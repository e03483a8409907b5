import { type SQL, sql } from "drizzle-orm";
import { ask, inline } from "../../report/ask.ts";
import { type Asks, piece, questionsOf } from "../parts/answers.ts";
import { KNOWN_WITHIN_S } from "../parts/bounds.ts";
import type { OutcomesRow } from "../parts/changes.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { dateOf, dayText, endOfBefore, type Period, type PeriodChoice } from "../parts/period.ts";

export interface TrendsChoice extends PeriodChoice {
  /** A type of builds. */
  readonly type: string | undefined;
}

/** The subject of all blocks of trends. */
export interface TrendsScope extends PageMoment {
  readonly choice: TrendsChoice;
  /** Those that are chosen. */
  readonly type: string | undefined;
  readonly period: Period;
}

/** Hours and phases of builds are looked at for so many days, the last of the period. */
export const LATE_DAYS = 14;
/** The last days of a period, which questions about builds one by one look at. */
export const lateOf = (period: Period): Period => ({
  ...period,
  first: Math.max(period.first, period.last - LATE_DAYS + 1),
});

/** What the files of these questions have places for. Days are the first and the last of the period, and `start` that of both periods. */
function placesOf({ period, type, at }: TrendsScope) {
  const { start, first, last } = period;
  const end = endOfBefore(period, at);
  const early = (column: string) =>
    end === null
      ? undefined
      : sql`and (${sql.raw(column)} <= ${end.toISOString()}::timestamptz or ${sql.raw(column)} >= ${dateOf(first)})`;
  return {
    start: dayText(start),
    first: dayText(first),
    last: dayText(last),
    after: dayText(last + 1),
    late: dayText(lateOf(period).first),
    near: inline(KNOWN_WITHIN_S),
    of_type: type === undefined ? undefined : sql`and type = ${type}`,
    early: early("triggered_at"),
    early_broke: early("broke_at"),
    early_fixed: early("recovered_at"),
    // Where days are made of two questions, the first of them leaves out days.
    others: undefined,
  };
}

export const trendsQuestion = questionsOf(import.meta.url, placesOf);

/** A day with its outcomes, and how many versions and formats broke and were fixed. */
type TrendsDay = OutcomesRow & { readonly broke: number; readonly fixed: number };

/** Each day of both periods. */
export const askForDays = (scope: TrendsScope): Asks<TrendsDay> => ask`
select days.*, coalesce(turns.broke, 0) as broke, coalesce(turns.fixed, 0) as fixed
from ${daysAndTurns(scope)}
order by day`;

const DAYS_OF_ALL = piece("days_of_all", import.meta.url);
const DAYS_COUNTED = piece("days_counted", import.meta.url);
const TURNS_OF_ALL = piece("turns_of_all", import.meta.url);
const TURNS_COUNTED = piece("turns_counted", import.meta.url);
const WITHOUT_PLATFORM = piece("rates_without_platform", import.meta.url);

/** Days as the reports have them; counted build by build for one format, or where a day counts in part. */
function eitherOf(whole: typeof DAYS_OF_ALL, counted: typeof DAYS_OF_ALL, scope: TrendsScope): SQL {
  const places = placesOf(scope);
  if (scope.type !== undefined) return counted(places);
  if (endOfBefore(scope.period, scope.at) === null) return whole(places);
  const { first } = scope.period;
  const day = dayText(first - 1);
  const part = { ...places, start: day, last: day, after: places.first };
  return sql`${whole({ ...places, others: sql`and day <> ${dateOf(first - 1)}` })}
union all
${counted(part)}`;
}

/** The rates without what is the platform's own fault, of the period and the one before it. */
export const plainOf = (scope: TrendsScope): SQL => WITHOUT_PLATFORM(placesOf(scope));

export const daysAndTurns = (scope: TrendsScope): SQL => sql`(
${eitherOf(DAYS_OF_ALL, DAYS_COUNTED, scope)}
) as days
left join (
${eitherOf(TURNS_OF_ALL, TURNS_COUNTED, scope)}
) as turns using (day)`;

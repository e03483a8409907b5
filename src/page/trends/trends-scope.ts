import { type SQL, sql } from "drizzle-orm";
import { ask, pick, relation } from "../../report/ask.ts";
import type { Asks } from "../parts/answers.ts";
import type { OutcomesRow } from "../parts/changes.ts";
import { dateOf, type Period, type PeriodChoice, within } from "../parts/period.ts";

export interface TrendsChoice extends PeriodChoice {
  /** A type of builds. */
  readonly type: string | undefined;
}

/** The subject of all blocks of trends. */
export interface TrendsScope {
  readonly choice: TrendsChoice;
  /** Those that are chosen. */
  readonly type: string | undefined;
  readonly period: Period;
  readonly now: Date;
  /** The host of the service, or `demo`; null where it is not known. */
  readonly service: string | null;
}

/** The parameters that narrow the files of most blocks. */
export const CHOSEN = { since: null, until: null, type: null };

/** A question about builds one by one may look at so many days, so that it stays quick in a mirror of millions. */
export const MOST_BUILD_DAYS = 62;
/** Hours and phases of builds are looked at for so many days, the last of the period. */
export const LATE_DAYS = 14;
/** The last days of a period, which questions about builds one by one look at. */
export const lateOf = (period: Period): Period => ({
  ...period,
  first: Math.max(period.first, period.last - LATE_DAYS + 1),
});

const build = relation("fact_builds");
const daily = relation("success_rate_daily");
const plain = relation("success_rate_without_platform");
const streak = relation("streaks");
const turn = relation("broke_daily");

/** A day with its outcomes, and how many versions and formats broke and were fixed. */
type TrendsDay = OutcomesRow & { readonly broke: number; readonly fixed: number };

/** Each day of both periods. */
export const askForDays = (scope: TrendsScope): Asks<TrendsDay> => ask`
select days.*, coalesce(turns.broke, 0) as broke, coalesce(turns.fixed, 0) as fixed
from ${daysAndTurns(scope)}
order by day`;

/** That a moment is of one of these days, both included. */
export const momentWithin = (column: SQL, first: number, last: number): SQL =>
  sql`${column} >= ${dateOf(first)} and ${column} < ${dateOf(last + 1)}`;

function daysOf({ period: { start, last }, type }: TrendsScope): SQL {
  if (type === undefined)
    return sql`select ${pick(daily, "day", "builds", "finished", "succeeded", "failed", "unfinished", "stuck", "cancelled", "is_complete")}
from ${daily}
where ${within(daily.day, start, last)}`;
  const covered = relation("success_rate_daily", "daily");
  return sql`select ${daily.day}, coalesce(of_type.builds, 0) as builds, coalesce(of_type.finished, 0) as finished,
  coalesce(of_type.succeeded, 0) as succeeded, coalesce(of_type.failed, 0) as failed,
  coalesce(of_type.builds - of_type.finished - of_type.cancelled, 0) as unfinished, coalesce(of_type.stuck, 0) as stuck,
  coalesce(of_type.cancelled, 0) as cancelled, ${covered.is_complete}
from ${covered}
left join (
  select ${build.triggered_on} as day, count(*) as builds, count(${build.succeeded}) as finished, sum(${build.succeeded}) as succeeded,
    sum(${build.failed}) as failed, count(*) filter (where ${build.outcome} = 'stuck') as stuck,
    count(*) filter (where ${build.outcome} = 'cancelled') as cancelled
  from ${build}
  where ${within(build.triggered_on, start, last)} and ${build.type} = ${type}
  group by day
) as of_type using (${daily.day})
where ${within(daily.day, start, last)} and ${covered.is_covered}`;
}

function turnsOf({ period: { start, last }, type }: TrendsScope): SQL {
  if (type === undefined)
    return sql`select ${pick(turn, "day", "broke", "fixed", "born_broken")}
from ${turn}
where ${within(turn.day, start, last)}`;
  return sql`select day, count(*) filter (where turn = 'broke') as broke, count(*) filter (where turn = 'fixed') as fixed
from (
  select (${streak.broke_at} at time zone 'UTC')::date as day, 'broke' as turn
  from ${streak}
  where ${streak.type} = ${type} and ${momentWithin(streak.broke_at, start, last)}
  union all
  select (${streak.recovered_at} at time zone 'UTC')::date, 'fixed'
  from ${streak}
  where ${streak.type} = ${type} and ${momentWithin(streak.recovered_at, start, last)}
) as turned
group by day`;
}

/** The rates without what is the platform's own fault, of the period and the one before it. */
export function plainOf({ start, first, last }: Period): SQL {
  return sql`select ${plain.day} >= ${dateOf(first)} as is_this_period,
  sum(${plain.finished}) as finished, sum(${plain.succeeded}) as succeeded,
  sum(${plain.finished_without_platform}) as finished_without_platform,
  sum(${plain.succeeded_without_platform}) as succeeded_without_platform
from ${plain}
where ${within(plain.day, start, last)}
group by is_this_period`;
}

export const daysAndTurns = (scope: TrendsScope): SQL => sql`(
${daysOf(scope)}
) as days
left join (
${turnsOf(scope)}
) as turns using (day)`;

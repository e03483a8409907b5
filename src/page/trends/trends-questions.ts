import { type SQL, sql } from "drizzle-orm";
import { ask, askFor, onPage } from "../../report/ask.ts";
import type { Question } from "../../report/question.ts";
import { inline, pick, relation, where } from "../../report/relation.ts";
import type { BlockQuestions } from "../parts/offers.ts";
import { dayText, type Period } from "../parts/period.ts";
import { dateOf, FIRST_DAY, within } from "../parts/questions/days.ts";
import { askForKinds } from "../parts/questions/kinds-question.ts";
import { isKnownTime } from "../parts/questions/known-times.ts";
import type { Row } from "../parts/row.ts";

const backlog = relation("backlog");
const build = relation("fact_builds");
const byType = relation("success_rate_by_type");
const daily = relation("success_rate_daily");
const flaky = relation("flaky_series");
const incident = relation("incident_hours");
const phase = relation("build_phases");
const plain = relation("success_rate_without_platform");
const repair = relation("time_to_recover");
const streak = relation("recoveries");
const turn = relation("broke_daily");

/** A question about builds one by one may look at so many days, so that it stays quick in a mirror of millions. */
export const MOST_BUILD_DAYS = 62;
/** Hours and phases of builds are looked at for so many days, the last of the period. */
export const LATE_DAYS = 14;
/** The last days of a period, which questions about builds one by one look at. */
export const lateOf = (period: Period): Period => ({
  ...period,
  first: Math.max(period.first, period.last - LATE_DAYS + 1),
});
const MOST_MONTHS = 6;
const SHOWN_SERIES = 5;
const SHOWN_HOURS = 5;
const SHOWN_BUILDS = 12;

/**
 * What the rates of the formats are about. For more than 14 days nothing before is counted, and for more than 31 days,
 * or beside the builds of one format, they are those of all time.
 */
export function formatsAbout(
  period: Period,
  type: string | undefined,
): "both periods" | "the period" | "all time" {
  if (period.days <= 14) return period.before === null ? "the period" : "both periods";
  return period.days <= 31 && type === undefined ? "the period" : "all time";
}

/** What a choice is judged by: the first day with a build, and the formats of all builds. */
export const KNOWN = {
  days: FIRST_DAY,
  types: ask("success_rate_by_type")`
select ${byType.type} from ${byType} order by ${byType.builds} desc, ${byType.type}`,
};

/** That a moment is of one of these days, both included. */
const momentWithin = (column: SQL, first: number, last: number): SQL =>
  sql`${column} >= ${dateOf(first)} and ${column} < ${dateOf(last + 1)}`;

/** All questions of the page of trends. With a type, those that can be are about its builds alone. */
export function trendsQuestions(period: Period, type: string | undefined) {
  const { first, last } = period;
  return {
    days: ask("success_rate_daily")`${daysOf(period, type)}\norder by ${daily.day}`,
    formats: askForFormats(period, type),
    plain: ask("success_rate_without_platform")`${plainOf(period)}`,
    kinds: type === undefined ? askForKinds(period) : askForKindsOfType(period, type),
    turns: ask("broke_daily")`${turnsOf(period, type)}\norder by day`,
    quick: ask("recoveries")`${quickRepairsOf(period, type)}`,
    times: askForTimes(period, type),
    timed: askForTimed(period, type),
    phases: askForPhases(period, type),
    hours: askForHours(period),
    incidents: ask("incident_hours")`
select ${pick(incident, "hour", "projects", "projects_failing", "projects_expected")}${onPage`, count(*) over () as hours`}
from ${incident}
where ${momentWithin(incident.hour, first, last)}
order by ${incident.hour} desc${onPage`\nlimit ${inline(SHOWN_HOURS)}`}`,
    backlog: askForBacklog(period),
    regressions: askFor("regressions", {}, [], onPage`\nlimit ${inline(SHOWN_SERIES)}`),
    repairs: ask("time_to_recover")`
select ${pick(repair, "month", "streaks", "recovered", "still_open", "p25_hours", "median_hours", "p75_hours", "closed_median_hours")}
from ${repair}
where ${repair.project_id} is null and ${repair.type} ${type === undefined ? sql`is null` : sql`= ${type}`}
  and ${repair.month} in ${monthsOf(period)}
order by ${repair.month} desc`,
    flaky: ask("flaky_series")`
select ${pick(flaky, "project_slug", "version_slug", "type", "finished", "flips", "flip_rate_by_chance", "p_value_adjusted")}${onPage`,
  count(*) over () as series`}
from ${flaky}${where(type !== undefined && sql`${flaky.type} = ${type}`)}
order by ${flaky.p_value}, ${flaky.finished} desc, ${pick(flaky, "project_slug", "version_slug", "type")}${onPage`\nlimit ${inline(SHOWN_SERIES)}`}`,
  } satisfies Record<string, Question>;
}

/** The blocks with files. */
export function trendsBlocks(
  questions: ReturnType<typeof trendsQuestions>,
  period: Period,
  type: string | undefined,
) {
  const { kinds, times, phases, repairs, flaky, formats, incidents, regressions, backlog } = questions;
  return {
    compare: askForPeriods(period, type),
    days: askForDays(period, type),
    why: kinds,
    durations: times,
    phases,
    repairs,
    flaky,
    formats,
    platform: incidents,
    regressions,
    backlog,
  } satisfies BlockQuestions;
}

const CHOSEN = { since: null, until: null, type: null };

export const TRENDS_FILES = {
  compare: CHOSEN,
  days: CHOSEN,
  why: CHOSEN,
  durations: CHOSEN,
  phases: CHOSEN,
  repairs: CHOSEN,
  flaky: { type: null },
  formats: CHOSEN,
  // Of one format the period is shorter at most.
  platform: CHOSEN,
  regressions: {},
  backlog: CHOSEN,
};

/** The answers of the page of trends, by the names of their questions. */
export type TrendsAnswers = Readonly<Record<keyof ReturnType<typeof trendsQuestions>, readonly Row[]>>;

/** The last months that the period touches, such as 2026-11. */
function monthsOf({ first, last }: Period): string[] {
  const months = new Set<string>();
  for (let day = last; day >= first && months.size < MOST_MONTHS; day--) months.add(dayText(day).slice(0, 7));
  return [...months];
}

function daysOf(period: Period, type: string | undefined): SQL {
  const { start, last } = period;
  if (type !== undefined) return daysOfType(period, type);
  return sql`select ${pick(daily, "day", "builds", "finished", "succeeded", "failed", "unfinished", "stuck", "is_complete")}
from ${daily}
where ${within(daily.day, start, last)}`;
}

function daysOfType({ start, last }: Period, type: string): SQL {
  const covered = relation("success_rate_daily", "daily");
  return sql`select ${daily.day}, coalesce(of_type.builds, 0) as builds, coalesce(of_type.finished, 0) as finished,
  coalesce(of_type.succeeded, 0) as succeeded, coalesce(of_type.failed, 0) as failed,
  coalesce(of_type.builds - of_type.finished, 0) as unfinished, coalesce(of_type.stuck, 0) as stuck, ${covered.is_complete}
from ${covered}
left join (
  select ${build.triggered_on} as day, count(*) as builds, count(${build.succeeded}) as finished, sum(${build.succeeded}) as succeeded,
    sum(${build.failed}) as failed, count(*) filter (where ${build.outcome} = 'stuck') as stuck
  from ${build}
  where ${within(build.triggered_on, start, last)} and ${build.type} = ${type}
  group by day
) as of_type using (${daily.day})
where ${within(daily.day, start, last)} and ${covered.is_covered}`;
}

function askForFormats(period: Period, type: string | undefined): Question {
  const about = formatsAbout(period, type);
  if (about === "all time") return askFor("success_rate_by_type");
  const { first, last } = period;
  const of = sql`filter (where ${build.triggered_on} >= ${dateOf(first)})`;
  const before = sql`filter (where ${build.triggered_on} < ${dateOf(first)})`;
  return ask("fact_builds")`
select ${build.type},
  count(${build.succeeded}) ${of} as finished,
  sum(${build.succeeded}) ${of} as succeeded,
  count(${build.succeeded}) ${before} as finished_before,
  sum(${build.succeeded}) ${before} as succeeded_before
from ${build}
where ${within(build.triggered_on, about === "both periods" ? period.start : first, last)}
group by ${build.type}
order by finished desc, ${build.type}`;
}

function askForKindsOfType({ start, last }: Period, type: string): Question {
  return ask("fact_builds")`
select ${build.triggered_on} as day, ${build.error_class}, count(*) as failures
from ${build}
where ${build.failed} = 1 and ${within(build.triggered_on, start, last)} and ${build.type} = ${type}
group by day, ${build.error_class}
order by day, ${build.error_class}`;
}

/** What broke and what was fixed, as `report.broke_daily` counts it. */
function turnsOf({ start, last }: Period, type: string | undefined): SQL {
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

/** How much of what broke was fixed within a day; what broke on the last day of each period is left out. */
function quickRepairsOf({ start, first, last }: Period, type: string | undefined): SQL {
  return sql`select ${streak.broke_at} >= ${dateOf(first)} as is_this_period, count(*) as broke,
  count(*) filter (where ${streak.hours_to_recover} <= 24) as fixed
from ${streak}${where(momentWithin(streak.broke_at, start, last - 1), type !== undefined && sql`${streak.type} = ${type}`)}
group by is_this_period`;
}

/** Both bounds of a time of builds that is known, as percentiles: the percentile of a bound is a bound of the percentile. */
function percentiles(name: string, least: SQL, most: SQL, isKnown: SQL): SQL {
  const of = (bound: SQL, share: number) =>
    sql`percentile_cont(${inline(share)}) within group (order by ${bound}) filter (where ${isKnown})`;
  return sql.join(
    [["p50", 0.5] as const, ["p90", 0.9] as const].map(
      ([word, share]) =>
        sql`${of(least, share)} as ${sql.raw(`${name}_${word}_least`)},\n  ${of(most, share)} as ${sql.raw(`${name}_${word}_most`)}`,
    ),
    sql`,\n  `,
  );
}

const isTimed = isKnownTime(build.duration_s_min, build.duration_s_max);

const finishedLately = (period: Period, type: string | undefined): SQL =>
  sql`${build.duration_s_min} is not null
  and ${within(build.triggered_on, lateOf(period).first, period.last)}${type === undefined ? undefined : sql` and ${build.type} = ${type}`}`;

/** How long builds took whose times are known, by day; the row without a day is about all of them. */
function askForTimes(period: Period, type: string | undefined): Question {
  return ask("fact_builds")`
select ${build.triggered_on} as day, count(*) as finished, count(*) filter (where ${isTimed}) as known,
  ${percentiles("took", build.duration_s_min, build.duration_s_max, isTimed)}
from ${build}
where ${finishedLately(period, type)}
group by grouping sets ((day), ())
order by day nulls first`;
}

/** The newest builds whose times are known. */
function askForTimed(period: Period, type: string | undefined): Question {
  return ask("fact_builds")`
select ${pick(build, "build_id", "outcome", "duration_s_min", "duration_s_max")}
from ${build}
where ${finishedLately(period, type)} and ${isTimed}
order by ${build.triggered_at} desc, ${build.build_id}
limit ${inline(SHOWN_BUILDS)}`;
}

/** How long builds waited and worked of which both are known. */
function askForPhases(period: Period, type: string | undefined): Question {
  const isKnown = sql`${isKnownTime(phase.queued_s_min, phase.queued_s_max)} and ${isKnownTime(phase.building_s_min, phase.building_s_max)}`;
  return ask("build_phases")`
select count(${phase.building_s_min}) as finished, count(*) filter (where ${isKnown}) as known,
  ${percentiles("queued", phase.queued_s_min, phase.queued_s_max, isKnown)},
  ${percentiles("building", phase.building_s_min, phase.building_s_max, isKnown)}
from ${phase}
where ${within(phase.triggered_on, lateOf(period).first, period.last)}${type === undefined ? undefined : sql` and ${phase.type} = ${type}`}`;
}

/** How many builds were open at once, by day, of the hours in which that is known to within five builds or a tenth. */
function askForBacklog({ first, last }: Period): Question {
  const isKnown = sql`filter (where ${backlog.open_max} - ${backlog.open_min} <= greatest(5, ${backlog.open_max} / 10))`;
  return ask("backlog")`
select (${backlog.hour} at time zone 'UTC')::date as day, count(*) as hours, count(*) ${isKnown} as known,
  max(${backlog.open_min}) ${isKnown} as open_min, max(${backlog.open_max}) ${isKnown} as open_max
from ${backlog}
where ${momentWithin(backlog.hour, first, last)} and ${backlog.is_covered}
group by day
order by day`;
}

/** The rates without what is the platform's own fault, of the period and the one before it. */
function plainOf({ start, first, last }: Period): SQL {
  return sql`select ${plain.day} >= ${dateOf(first)} as is_this_period,
  sum(${plain.finished}) as finished, sum(${plain.succeeded}) as succeeded,
  sum(${plain.finished_without_platform}) as finished_without_platform,
  sum(${plain.succeeded_without_platform}) as succeeded_without_platform
from ${plain}
where ${within(plain.day, start, last)}
group by is_this_period`;
}

/** Each day with its builds and its turns, which the page asks for in two questions. */
const daysAndTurns = (period: Period, type: string | undefined): SQL => sql`(
${daysOf(period, type)}
) as days
left join (
${turnsOf(period, type)}
) as turns using (day)`;

function askForDays(period: Period, type: string | undefined): Question {
  return ask("success_rate_daily")`
select days.*, coalesce(turns.broke, 0) as broke, coalesce(turns.fixed, 0) as fixed
from ${daysAndTurns(period, type)}
order by day`;
}

/** The period and the one before it, a row each. */
function askForPeriods(period: Period, type: string | undefined): Question {
  const count = (column: string) => sql.raw(`coalesce(sum(${column}), 0) as ${column}`);
  const counts = ["builds", "finished", "succeeded", "failed", "unfinished", "stuck", "broke", "fixed"];
  const withoutPlatform = sql`
left join (
  select is_this_period, finished_without_platform, succeeded_without_platform
  from (
${plainOf(period)}
  ) as plain
) as plain using (is_this_period)`;
  return ask("success_rate_daily")`
select *
from (
  select day >= ${dateOf(period.first)} as is_this_period, min(day) as first_day, max(day) as last_day,
    ${sql.join(counts.map(count), sql`, `)}
  from ${daysAndTurns(period, type)}
  group by is_this_period
) as counts${type === undefined ? withoutPlatform : undefined}
left join (
  select is_this_period, broke as broke_a_day_before_the_end, fixed as of_these_fixed_within_a_day
  from (
${quickRepairsOf(period, type)}
  ) as quick
) as quick using (is_this_period)
order by is_this_period desc`;
}

/** How many hours had enough builds to show trouble of the platform. */
function askForHours(period: Period): Question {
  return ask("incident_hours")`
select count(*) as looked_at
from (
  select date_trunc('hour', ${build.triggered_at})
  from ${build}
  where ${build.succeeded} is not null and ${build.project_id} <> '-1'
    and ${within(build.triggered_on, lateOf(period).first, period.last)}
  group by 1
  having count(distinct ${build.project_id}) >= 8
) as hour`;
}

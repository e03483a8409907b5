import { type SQL, sql } from "drizzle-orm";
import { ask, askFor } from "../../report/ask.ts";
import type { Question } from "../../report/question.ts";
import { inline, pick, relation, where } from "../../report/relation.ts";
import { dayText, type Period } from "../parts/period.ts";
import { dateOf, FIRST_DAY, within } from "../parts/questions/days.ts";
import { askForKinds } from "../parts/questions/kinds-question.ts";
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
const MOST_MONTHS = 6;
const SHOWN_SERIES = 5;
const SHOWN_HOURS = 5;

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
  const { start, first, last } = period;
  return {
    days: type === undefined ? askForDays(period) : askForDaysOfType(period, type),
    formats: askForFormats(period, type),
    plain: ask("success_rate_without_platform")`
select ${plain.day} >= ${dateOf(first)} as is_this_period,
  sum(${plain.finished}) as finished, sum(${plain.succeeded}) as succeeded,
  sum(${plain.finished_without_platform}) as finished_without_platform,
  sum(${plain.succeeded_without_platform}) as succeeded_without_platform
from ${plain}
where ${within(plain.day, start, last)}
group by is_this_period`,
    kinds: type === undefined ? askForKinds(period) : askForKindsOfType(period, type),
    turns: askForTurns(period, type),
    quick: askForQuickRepairs(period, type),
    times: type === undefined ? askForTimes(period) : askForTimesOfType(period, type),
    phases: askForPhases(period, type),
    hours: askForHours(period),
    incidents: ask("incident_hours")`
select ${pick(incident, "hour", "projects", "projects_failing", "projects_expected")}, count(*) over () as hours
from ${incident}
where ${momentWithin(incident.hour, first, last)}
order by ${incident.hour} desc
limit ${inline(SHOWN_HOURS)}`,
    backlog: ask("backlog")`
select (${backlog.hour} at time zone 'UTC')::date as day, max(${backlog.open_min}) as open_min, max(${backlog.open_max}) as open_max
from ${backlog}
where ${momentWithin(backlog.hour, first, last)} and ${backlog.is_covered}
group by day
order by day`,
    regressions: askFor("regressions", { limit: SHOWN_SERIES }),
    repairs: ask("time_to_recover")`
select ${pick(repair, "month", "streaks", "recovered", "still_open", "p25_hours", "median_hours", "p75_hours", "closed_median_hours")}
from ${repair}
where ${repair.project_id} is null and ${repair.type} ${type === undefined ? sql`is null` : sql`= ${type}`}
  and ${repair.month} in ${monthsOf(period)}
order by ${repair.month} desc`,
    flaky: ask("flaky_series")`
select ${pick(flaky, "project_slug", "version_slug", "type", "finished", "flips", "flip_rate_by_chance", "p_value_adjusted")},
  count(*) over () as series
from ${flaky}${where(type !== undefined && sql`${flaky.type} = ${type}`)}
order by ${flaky.p_value}, ${flaky.finished} desc, ${pick(flaky, "project_slug", "version_slug", "type")}
limit ${inline(SHOWN_SERIES)}`,
  } satisfies Record<string, Question>;
}

/** The answers of the page of trends, by the names of their questions. */
export type TrendsAnswers = Readonly<Record<keyof ReturnType<typeof trendsQuestions>, readonly Row[]>>;

/** The last months that the period touches, such as 2026-11. */
function monthsOf({ first, last }: Period): string[] {
  const months = new Set<string>();
  for (let day = last; day >= first && months.size < MOST_MONTHS; day--) months.add(dayText(day).slice(0, 7));
  return [...months];
}

function askForDays({ start, last }: Period): Question {
  return ask("success_rate_daily")`
select ${pick(daily, "day", "builds", "finished", "succeeded", "failed", "unfinished", "stuck", "is_complete")}
from ${daily}
where ${within(daily.day, start, last)}
order by ${daily.day}`;
}

function askForDaysOfType({ start, last }: Period, type: string): Question {
  const covered = relation("success_rate_daily", "daily");
  return ask("fact_builds")`
select ${daily.day}, coalesce(of_type.builds, 0) as builds, coalesce(of_type.finished, 0) as finished,
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
where ${within(daily.day, start, last)} and ${covered.is_covered}
order by ${daily.day}`;
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
function askForTurns({ start, last }: Period, type: string | undefined): Question {
  if (type === undefined)
    return ask("broke_daily")`
select ${pick(turn, "day", "broke", "fixed", "born_broken")}
from ${turn}
where ${within(turn.day, start, last)}
order by ${turn.day}`;
  return ask("recoveries")`
select day, count(*) filter (where turn = 'broke') as broke, count(*) filter (where turn = 'fixed') as fixed
from (
  select (${streak.broke_at} at time zone 'UTC')::date as day, 'broke' as turn
  from ${streak}
  where ${streak.type} = ${type} and ${momentWithin(streak.broke_at, start, last)}
  union all
  select (${streak.recovered_at} at time zone 'UTC')::date, 'fixed'
  from ${streak}
  where ${streak.type} = ${type} and ${momentWithin(streak.recovered_at, start, last)}
) as turned
group by day
order by day`;
}

/** How much of what broke was fixed within a day; what broke on the last day of each period is left out. */
function askForQuickRepairs({ start, first, last }: Period, type: string | undefined): Question {
  return ask("recoveries")`
select ${streak.broke_at} >= ${dateOf(first)} as is_this_period, count(*) as broke,
  count(*) filter (where ${streak.hours_to_recover} <= 24) as fixed
from ${streak}${where(momentWithin(streak.broke_at, start, last - 1), type !== undefined && sql`${streak.type} = ${type}`)}
group by is_this_period`;
}

function askForTimes({ first, last }: Period): Question {
  return askFor("build_times_daily", { since: dayText(first), until: dayText(last) });
}

function askForTimesOfType({ first, last }: Period, type: string): Question {
  return askFor("build_times_weekly_by_type", { type, since: dayText(first), until: dayText(last) });
}

/** What no upper bound is known of may have taken for ever. */
function askForPhases({ first, last }: Period, type: string | undefined): Question {
  const both = (column: "queued_s_min" | "queued_s_max" | "building_s_min" | "building_s_max") => {
    const time = column.endsWith("max") ? sql`coalesce(${phase[column]}, 'infinity')` : phase[column];
    const percentiles = sql`(percentile_disc(array[0.5, 0.9]) within group (order by ${time}) filter (where ${phase.building_s_min} is not null))`;
    return sql`${percentiles}[1] as ${phase[column]}_p50,\n  ${percentiles}[2] as ${phase[column]}_p90`;
  };
  return ask("build_phases")`
select count(${phase.building_s_min}) as finished,
  ${both("queued_s_min")},
  ${both("queued_s_max")},
  ${both("building_s_min")},
  ${both("building_s_max")}
from ${phase}
where ${within(phase.triggered_on, Math.max(first, last - LATE_DAYS + 1), last)}${type === undefined ? undefined : sql` and ${phase.type} = ${type}`}`;
}

/** How many hours had enough builds to show trouble of the platform. */
function askForHours({ first, last }: Period): Question {
  return ask("incident_hours")`
select count(*) as looked_at
from (
  select date_trunc('hour', ${build.triggered_at})
  from ${build}
  where ${build.succeeded} is not null and ${build.project_id} <> '-1'
    and ${within(build.triggered_on, Math.max(first, last - LATE_DAYS + 1), last)}
  group by 1
  having count(distinct ${build.project_id}) >= 8
) as hour`;
}

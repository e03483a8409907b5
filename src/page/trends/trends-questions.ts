import { askFor, type Question } from "../../report/question.ts";
import type { Row } from "../parts/list-table.ts";
import { dayText, type Period } from "../parts/period.ts";
import { askForKinds } from "../parts/questions/kinds-question.ts";
import { statement } from "../parts/questions/statement.ts";

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

type Hold = (value: string | number) => string;

/** The days of the period, and of the one before it where that is known. */
const within = (column: string, period: Pick<Period, "start" | "last">) => (hold: Hold) =>
  `${column} between ${hold(dayText(period.start))}::date and ${hold(dayText(period.last))}::date`;

const dayHeld = (hold: Hold, day: number) => `${hold(dayText(day))}::date`;

/** All questions of the page of trends. With a type, those that can be are about its builds alone. */
export function trendsQuestions(period: Period, type: string | undefined) {
  return {
    days: type === undefined ? askForDays(period) : askForDaysOfType(period, type),
    formats: askForFormats(period, type),
    plain: statement(
      "success_rate_without_platform",
      (hold) => `select day >= ${dayHeld(hold, period.first)} as is_this_period,
  sum(finished) as finished, sum(succeeded) as succeeded,
  sum(finished_without_platform) as finished_without_platform,
  sum(succeeded_without_platform) as succeeded_without_platform
from report.success_rate_without_platform
where ${within("day", period)(hold)}
group by is_this_period`,
    ),
    kinds: type === undefined ? askForKinds(period) : askForKindsOfType(period, type),
    turns: askForTurns(period, type),
    quick: askForQuickRepairs(period, type),
    times: type === undefined ? askForTimes(period) : askForTimesOfType(period, type),
    phases: askForPhases(period, type),
    hours: askForHours(period),
    incidents: statement(
      "incident_hours",
      (hold) => `select hour, projects, projects_failing, projects_expected, count(*) over () as hours
from report.incident_hours
where hour >= ${dayHeld(hold, period.first)} and hour < ${dayHeld(hold, period.last + 1)}
order by hour desc
limit ${SHOWN_HOURS}`,
    ),
    backlog: statement(
      "backlog",
      (
        hold,
      ) => `select (hour at time zone 'UTC')::date as day, max(open_min) as open_min, max(open_max) as open_max
from report.backlog
where hour >= ${dayHeld(hold, period.first)} and hour < ${dayHeld(hold, period.last + 1)} and is_covered
group by day
order by day`,
    ),
    regressions: askFor("regressions", { limit: SHOWN_SERIES }),
    repairs: statement(
      "time_to_recover",
      (
        hold,
      ) => `select month, streaks, recovered, still_open, p25_hours, median_hours, p75_hours, closed_median_hours
from report.time_to_recover
where project_id is null and type ${type === undefined ? "is null" : `= ${hold(type)}`}
  and month in (${monthsOf(period).map(hold).join(", ")})
order by month desc`,
    ),
    flaky: statement(
      "flaky_series",
      (
        hold,
      ) => `select project_slug, version_slug, type, finished, flips, flip_rate_by_chance, p_value_adjusted,
  count(*) over () as series
from report.flaky_series${type === undefined ? "" : `\nwhere type = ${hold(type)}`}
order by p_value, finished desc, project_slug, version_slug, type
limit ${SHOWN_SERIES}`,
    ),
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

function askForDays(period: Period): Question {
  return statement(
    "success_rate_daily",
    (hold) => `select day, builds, finished, succeeded, failed, unfinished, stuck, is_complete
from report.success_rate_daily
where ${within("day", period)(hold)}
order by day`,
  );
}

function askForDaysOfType(period: Period, type: string): Question {
  return statement(
    "fact_builds",
    (hold) => `select day, coalesce(of_type.builds, 0) as builds, coalesce(of_type.finished, 0) as finished,
  coalesce(of_type.succeeded, 0) as succeeded, coalesce(of_type.failed, 0) as failed,
  coalesce(of_type.builds - of_type.finished, 0) as unfinished, coalesce(of_type.stuck, 0) as stuck, daily.is_complete
from report.success_rate_daily as daily
left join (
  select triggered_on as day, count(*) as builds, count(succeeded) as finished, sum(succeeded) as succeeded,
    sum(failed) as failed, count(*) filter (where outcome = 'stuck') as stuck
  from report.fact_builds
  where ${within("triggered_on", period)(hold)} and type = ${hold(type)}
  group by day
) as of_type using (day)
where ${within("day", period)(hold)} and daily.is_covered
order by day`,
  );
}

function askForFormats(period: Period, type: string | undefined): Question {
  const about = formatsAbout(period, type);
  if (about === "all time") return askFor("success_rate_by_type");
  const start = about === "both periods" ? period.start : period.first;
  return statement(
    "fact_builds",
    (hold) => `select type,
  count(succeeded) filter (where triggered_on >= ${dayHeld(hold, period.first)}) as finished,
  sum(succeeded) filter (where triggered_on >= ${dayHeld(hold, period.first)}) as succeeded,
  count(succeeded) filter (where triggered_on < ${dayHeld(hold, period.first)}) as finished_before,
  sum(succeeded) filter (where triggered_on < ${dayHeld(hold, period.first)}) as succeeded_before
from report.fact_builds
where ${within("triggered_on", { start, last: period.last })(hold)}
group by type
order by finished desc, type`,
  );
}

function askForKindsOfType(period: Period, type: string): Question {
  return statement(
    "fact_builds",
    (hold) => `select triggered_on as day, error_class, count(*) as failures
from report.fact_builds
where failed = 1 and ${within("triggered_on", period)(hold)} and type = ${hold(type)}
group by day, error_class
order by day, error_class`,
  );
}

/** What broke and what was fixed, as `report.broke_daily` counts it. */
function askForTurns(period: Period, type: string | undefined): Question {
  if (type === undefined) {
    return statement(
      "broke_daily",
      (hold) => `select day, broke, fixed, born_broken
from report.broke_daily
where ${within("day", period)(hold)}
order by day`,
    );
  }
  return statement(
    "recoveries",
    (
      hold,
    ) => `select day, count(*) filter (where turn = 'broke') as broke, count(*) filter (where turn = 'fixed') as fixed
from (
  select (broke_at at time zone 'UTC')::date as day, 'broke' as turn
  from report.recoveries
  where type = ${hold(type)} and broke_at >= ${dayHeld(hold, period.start)} and broke_at < ${dayHeld(hold, period.last + 1)}
  union all
  select (recovered_at at time zone 'UTC')::date, 'fixed'
  from report.recoveries
  where type = ${hold(type)} and recovered_at >= ${dayHeld(hold, period.start)} and recovered_at < ${dayHeld(hold, period.last + 1)}
) as turned
group by day
order by day`,
  );
}

/** How much of what broke was fixed within a day; what broke on the last day of each period is left out. */
function askForQuickRepairs(period: Period, type: string | undefined): Question {
  return statement(
    "recoveries",
    (hold) => `select broke_at >= ${dayHeld(hold, period.first)} as is_this_period, count(*) as broke,
  count(*) filter (where hours_to_recover <= 24) as fixed
from report.recoveries
where broke_at >= ${dayHeld(hold, period.start)} and broke_at < ${dayHeld(hold, period.last)}${type === undefined ? "" : `\n  and type = ${hold(type)}`}
group by is_this_period`,
  );
}

function askForTimes({ first, last }: Period): Question {
  return askFor("build_times_daily", { since: dayText(first), until: dayText(last) });
}

function askForTimesOfType({ first, last }: Period, type: string): Question {
  return askFor("build_times_weekly_by_type", { type, since: dayText(first), until: dayText(last) });
}

/** What no upper bound is known of may have taken for ever. */
function askForPhases(period: Period, type: string | undefined): Question {
  const first = Math.max(period.first, period.last - LATE_DAYS + 1);
  const percentile = (column: string, place: number) =>
    `(percentile_disc(array[0.5, 0.9]) within group (order by ${column.endsWith("max") ? `coalesce(${column}, 'infinity')` : column}) filter (where building_s_min is not null))[${place}]`;
  const both = (column: string) =>
    `${percentile(column, 1)} as ${column}_p50,\n  ${percentile(column, 2)} as ${column}_p90`;
  return statement(
    "build_phases",
    (hold) => `select count(building_s_min) as finished,
  ${["queued_s_min", "queued_s_max", "building_s_min", "building_s_max"].map(both).join(",\n  ")}
from report.build_phases
where triggered_on between ${dayHeld(hold, first)} and ${dayHeld(hold, period.last)}${type === undefined ? "" : ` and type = ${hold(type)}`}`,
  );
}

/** How many hours had enough builds to show trouble of the platform. */
function askForHours(period: Period): Question {
  const first = Math.max(period.first, period.last - LATE_DAYS + 1);
  return statement(
    "incident_hours",
    (hold) => `select count(*) as looked_at
from (
  select date_trunc('hour', triggered_at)
  from report.fact_builds
  where succeeded is not null and project_id <> '-1'
    and triggered_on between ${dayHeld(hold, first)} and ${dayHeld(hold, period.last)}
  group by 1
  having count(distinct project_id) >= 8
) as hour`,
  );
}

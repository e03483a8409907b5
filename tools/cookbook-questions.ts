/**
 * What analysts ask first, each as one statement over schema `report`. A statement counts back from the newest day that is
 * complete, and never from today: so it has an answer on a mirror that nobody synced this week, and one that stays.
 */
export interface CookbookQuestion {
  readonly asks: string;
  readonly sql: string;
  /** What one must know to read the answer. */
  readonly note?: string;
}

export const QUESTIONS: readonly CookbookQuestion[] = [
  {
    asks: "How often do builds succeed, week by week?",
    sql: `select week, sum(builds) as builds, sum(finished) as finished, (report.success_rate(sum(succeeded), sum(finished))).*,
  bool_and(is_complete) as is_complete
from report.success_rate_daily
join report.dim_dates using (day)
group by week having bool_or(is_covered)
order by week desc limit 4`,
    note: "The rate of a week that is not complete still moves. `month`, `quarter` and `year` of `dim_dates` group in the same way.",
  },
  {
    asks: "Do a few busy projects hide how the others do, month by month?",
    sql: `select month, count(*) as projects, round((sum(succeeded) / sum(finished))::numeric, 3) as success_rate,
  round(avg(succeeded / nullif(finished, 0))::numeric, 3) as mean_of_projects
from (
  select month, project_id, sum(succeeded)::float8 as succeeded, sum(finished)::float8 as finished
  from report.success_rate_daily_by_project
  join report.dim_dates using (day)
  where project_id <> '-1'
  group by month, project_id
) as of_project
group by month
order by month desc limit 3`,
    note: "A month's projects, and their mean, are none of sums of days: each project counts once.",
  },
  {
    asks: "What fails now, and what broke last?",
    sql: `select project_slug, version_slug, type, failing_since::date as since, error_class
from report.failing_projects
order by newest_failing_since desc, project_slug limit 5`,
    note: "`report_people.failing_projects` has who maintains each, for a role that may see people.",
  },
  {
    asks: "What failed a week ago?",
    sql: `select count(distinct project_id) as projects, count(*) as series, count(recovered_at) as repaired_since
from report.failing_on((select max(day) - 7 from report.success_rate_daily where is_complete))`,
    note: "Compare only series with builds then, by `series_since`.",
  },
  {
    asks: "What broke, and what was fixed?",
    sql: `select week, count(*) filter (where turn = 'broke') as broke, count(*) filter (where turn = 'fixed') as fixed,
  count(*) filter (where turn = 'born broken') as born_broken,
  count(distinct project_id) filter (where turn = 'broke' and project_id <> '-1') as projects_broke
from (
  select project_id, broke_at as at, case when worked_before then 'broke' else 'born broken' end as turn from report.streaks
  union all
  select project_id, recovered_at, 'fixed' from report.recoveries
) as turns
join report.dim_dates on day = (at at time zone 'UTC')::date
group by week
order by week desc limit 4`,
    note:
      "`report.broke_daily` has it by day; a project that broke on two days of a week is one project of the week. In the first weeks of the\n" +
      "known builds `broke` is too low, and `born_broken` too high.",
  },
  {
    asks: "How long until a break is repaired?",
    sql: `select month, breaks, breaks - breaks_recovered as still_open, round(breaks_median_hours::numeric, 1) as median_hours,
  streaks - breaks as born_broken
from report.time_to_recover
where project_id is null and type is null and month is not null
order by month desc limit 3`,
    note:
      "Null where more than half are still broken. By kind of version ask `recoveries`, `where worked_before`, how many of those that broke over a\n" +
      "week ago have `hours_to_recover <= 168`.",
  },
  {
    asks: "Which projects surely fail most?",
    sql: `select project_slug, finished, failed, round(success_rate_high::numeric, 3) as at_most
from report.success_rate_by_project
order by success_rate_high, finished desc, project_slug limit 5`,
    note: "Ordered by the upper end of the interval, so that one failed build does not rank first.",
  },
  {
    asks: "Which results are flaky?",
    sql: `select project_slug, version_slug, type, finished, flips, round(p_value::numeric, 4) as chance, is_flaky
from report.instability
order by p_value nulls last, project_slug, version_slug, type limit 3`,
    note: "`where is_flaky` keeps what chance does not explain, counting how many series were tried.",
  },
  {
    asks: "Why do builds fail?",
    sql: `select error_class, failures, projects, round(failure_share::numeric, 3) as share
from report.error_classes
order by failures desc, error_class limit 5`,
  },
  {
    asks: "Which errors become more frequent?",
    sql: `select error_class, failures_last_7_days as last_7_days, failures_7_days_before as before,
  projects_last_7_days as projects, projects_7_days_before as projects_before
from report.error_classes
order by failures_last_7_days - failures_7_days_before desc, error_class limit 3`,
    note:
      "`report.error_fingerprints` has the same for each kind of line, `report.error_lines` for each line: those\n" +
      "`where failures = failures_last_7_days` are new.",
  },
  {
    asks: "How does each cause of failures go, week by week?",
    sql: `select triggered_week as week, error_class, count(*) as failures, count(distinct nullif(project_id, '-1')) as projects,
  round(count(*) / sum(count(*)) over (partition by triggered_week), 3) as failure_share
from report.fact_builds
where failed = 1 and triggered_week is not null
group by week, error_class
order by week desc, failures desc, error_class limit 6`,
    note: "`report.error_fingerprints_daily` has it by day and kind of line.",
  },
  {
    asks: "Which settings did projects change last?",
    sql: `select observed_at::date as seen, project_slug, field, left(before, 20) as before, left(after, 20) as after
from report.project_changes
where kind = 'updated' and field not in ('modified_date', 'resource_uri')
order by change_id desc, field limit 5`,
    note: "`observed_at` is when the mirror saw the change, which came after its reading before.",
  },
  {
    asks: "Which settings changed before it broke?",
    sql: `select streak.project_slug, streak.broke_at::date as broke, change.field, left(change.before, 20) as before, left(change.after, 20) as after
from report.streaks as streak
join report.project_changes as change on change.project_id = streak.project_id and change.kind = 'updated'
  and change.observed_at > streak.broke_at - interval '7 days' and change.observed_at <= streak.broke_at + interval '1 day'
where streak.worked_before and change.field not in ('modified_date', 'resource_uri')
order by streak.broke_at desc, streak.first_failed_build_id, change.change_id, change.field limit 5`,
    note:
      "In the week before, and a day after it, because a nightly mirror sees a change after the build that it broke. It need not be the\n" +
      "cause. The demo has watched for a day only, so no row is no proof.",
  },
  {
    asks: "How do projects do that are new, by the month in which they came?",
    sql: `select to_char(project.first_seen_at at time zone 'UTC', 'YYYY-MM') as came, count(*) as projects,
  count(*) filter (where state.state = 'good') as good, count(*) filter (where state.state = 'unknown') as never_finished
from report.dim_projects as project
join report.project_states as state using (project_id)
join report.freshness as known on known.resource = 'project' and project.first_seen_at > known.known_since
group by came
order by came desc limit 3`,
    note: "Projects that were there when the mirror began have a `first_seen_at` too, but nothing says when they came: `known_since` leaves them out.",
  },
  {
    asks: "Was it the platform?",
    sql: `select sum(finished) as finished, round(sum(succeeded)::numeric / nullif(sum(finished), 0), 3) as success_rate,
  round(sum(succeeded_without_platform)::numeric / nullif(sum(finished_without_platform), 0), 3) as without_platform,
  (select count(*) from report.incident_hours) as incident_hours
from report.success_rate_without_platform`,
    note:
      "An incident hour is one in which far more projects failed than their own rates predict. With few builds an hour\n" +
      "0 is no proof.",
  },
  {
    asks: "How long do builds take?",
    sql: `select type, count(duration_s_min) as finished, count(*) filter (where is_known) as known,
  round(percentile_cont(0.5) within group (order by duration_s_min) filter (where is_known)) as median_s_least,
  round(percentile_cont(0.5) within group (order by duration_s_max) filter (where is_known)) as median_s_most
from report.fact_builds
cross join lateral (select duration_s_max - duration_s_min <= 300 as is_known) as bounds
group by type order by finished desc, type`,
    note: "Known to within five minutes, as builds are that `docmirror watch` has followed. Their true median lies between the two: say of how many builds it is.",
  },
  {
    asks: "How long do the builds of each type take, week by week?",
    sql: `select triggered_week as week, type, count(*) as finished,
  percentile_disc(0.5) within group (order by duration_s_min) as p50_s_min,
  nullif(percentile_disc(0.5) within group (order by coalesce(duration_s_max, 'infinity')), 'infinity') as p50_s_max
from report.fact_builds
where duration_s_min is not null and triggered_week is not null
group by week, type
order by week desc, finished desc, type limit 5`,
    note: "The true median lies between the two. A missing upper bound counts as the highest. For projects group by `project_id`.",
  },
  {
    asks: "How long do builds wait, by the hour of the day?",
    sql: `select extract(hour from triggered_at at time zone 'UTC')::int as hour_of_day, count(*) as builds,
  percentile_disc(0.5) within group (order by queued_s_min) as p50_s_min,
  nullif(percentile_disc(0.5) within group (order by coalesce(queued_s_max, 'infinity')), 'infinity') as p50_s_max
from report.fact_builds
where queued_s_min is not null and triggered_at is not null
group by hour_of_day
order by hour_of_day limit 5`,
  },
  {
    asks: "Which builds took longest, of those whose times are known well?",
    sql: `select build_id, project_slug, type, duration_s_min, duration_s_max
from report.fact_builds
where duration_s_max - duration_s_min <= 300
order by duration_s_min + duration_s_max desc, build_id limit 10`,
  },
  {
    asks: "How does one project do, also in weeks without builds?",
    sql: `select week, coalesce(sum(own.builds), 0) as builds, coalesce(sum(own.failed), 0) as failed,
  count(own.day) as days_with_builds, count(*) filter (where own.failed > 0) as days_with_failures
from report.success_rate_daily as calendar
join report.dim_dates using (day)
left join report.success_rate_daily_by_project as own on own.day = calendar.day and own.project_slug = 'acorn-stork'
where calendar.is_covered
group by week
order by week desc limit 5`,
  },
  {
    asks: "Which versions of a project fail?",
    sql: `select version_slug, is_main, count(*) as builds, count(succeeded) as finished, sum(failed) as failed,
  (report.success_rate(sum(succeeded), count(succeeded))).success_rate_high
from report.fact_builds
where project_slug = 'acorn-stork'
group by version_slug, is_main
order by success_rate_high nulls last, version_slug limit 5`,
    note: "`is_main` is html of the project's default version: what its readers see first.",
  },
  {
    asks: "Which versions were never built?",
    sql: `select project_slug, version_slug, version.is_active, is_built, is_uploaded
from report.dim_versions as version
join report.dim_projects as project using (project_id)
where not version.is_deleted and version_id <> '-1'
  and not exists (select from report.fact_builds as build where build.version_id = version.version_id)
order by project_slug, version_slug limit 5`,
    note: "Where `is_built` is true the service lists no build of it any more, or it was uploaded.",
  },
  {
    asks: "Do some tools fail more than others?",
    sql: `select documentation_type, count(*) as projects, sum(finished) as finished,
  round(sum(succeeded)::numeric / nullif(sum(finished), 0), 3) as success_rate
from report.success_rate_by_project
join report.dim_projects using (project_id)
group by documentation_type order by finished desc limit 5`,
  },
  {
    asks: "Which builds are stuck?",
    sql: `select build_id, project_slug, version_slug, type, triggered_at, round(age_s) as age_s
from report.open_builds
where outcome = 'stuck'
order by age_s desc, build_id limit 5`,
  },
];

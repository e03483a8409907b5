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
    sql: `select week, finished, round(success_rate::numeric, 3) as success_rate, is_complete
from report.success_rate_weekly
where is_covered
order by week desc limit 4`,
    note: "The rate of a week that is not complete still moves.",
  },
  {
    asks: "What fails now, and what broke last?",
    sql: `select project_slug, version_slug, type, failing_since::date as since, error_class
from report.failing_projects
order by failing_since desc, project_slug limit 5`,
    note: "`report_people.failing_projects` has who maintains each, for a role that may see people.",
  },
  {
    asks: "What failed a week ago?",
    sql: `select count(distinct project_id) as projects, count(*) as series, count(recovered_at) as repaired_since
from report.failing_on((select max(day) - 7 from report.success_rate_daily where is_complete))`,
  },
  {
    asks: "What broke, and what was fixed?",
    sql: `select week, broke, fixed, born_broken, is_complete
from report.broke_weekly
where is_covered
order by week desc limit 4`,
  },
  {
    asks: "How long until a break is repaired?",
    sql: `select month, streaks, still_open, round(median_hours::numeric, 1) as median_hours
from report.time_to_recover
where project_id is null and type is null and month is not null
order by month desc limit 3`,
    note: "Null where more than half are still broken.",
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
    note: "`report.flaky_series` has only what chance does not explain, counting how many series were tried.",
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
    note: "`report.error_fingerprints` has the same for each kind of line, `report.error_trend_weekly` all weeks.",
  },
  {
    asks: "Was it the platform?",
    sql: `select sum(finished) as finished, round(sum(succeeded)::numeric / nullif(sum(finished), 0), 3) as success_rate,
  round(sum(succeeded_without_platform)::numeric / nullif(sum(finished_without_platform), 0), 3) as without_platform,
  (select count(*) from report.incident_hours) as incident_hours
from report.success_rate_without_platform`,
    note: "An incident hour is one in which far more projects failed than their own rates predict.",
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
    asks: "Which builds took longest, of those whose times are known well?",
    sql: `select build_id, project_slug, type, duration_s_min, duration_s_max
from report.fact_builds
where duration_s_max - duration_s_min <= 300
order by duration_s_min + duration_s_max desc, build_id limit 10`,
  },
  {
    asks: "How does one project do, also in weeks without builds?",
    sql: `select calendar.week, coalesce(own.builds, 0) as builds, coalesce(own.failed, 0) as failed
from report.success_rate_weekly as calendar
left join report.success_rate_weekly_by_project as own on own.week = calendar.week
  and own.project_slug = 'acorn-stork'
where calendar.is_covered
order by calendar.week desc limit 5`,
  },
  {
    asks: "Do some tools fail more than others?",
    sql: `select documentation_type, count(*) as projects, sum(finished) as finished,
  round(sum(succeeded)::numeric / nullif(sum(finished), 0), 3) as success_rate
from report.success_rate_by_project
join report.dim_projects using (project_id)
group by documentation_type order by finished desc limit 5`,
    note: "Rates are divided sums, never means of rates.",
  },
  {
    asks: "What is open, and what is stuck?",
    sql: `select outcome, count(*) as builds, min(triggered_at) as oldest
from report.open_builds
group by outcome order by outcome`,
  },
];

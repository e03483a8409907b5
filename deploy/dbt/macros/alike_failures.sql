{#- The failures that have a column in common, as CTEs that end with `alike`: a row for each of its values. -#}
{% macro alike_failures(key) -%}
with failure as (
  select project_id, build_id, error_class, error_fingerprint, triggered_at, error_line,
    -- Spans end with the day up to which the build list was read.
    case when triggered_on > as_of.last_day then null when triggered_on + 7 > as_of.last_day then 0
      when triggered_on + 14 > as_of.last_day then 1 end as spans_ago,
    row_number() over (
      partition by {{ key }}
      order by triggered_at desc nulls last, length(build_id) desc, build_id desc
    ) as nth_last
  from {{ ref('builds') }}
  cross join (select coalesce(covered_on, exported_on) as last_day from {{ ref('as_of') }}) as as_of
  where failed = 1
), counted as (
  select {{ key }} as key, max(error_class) filter (where nth_last = 1) as last_error_class,
    max(error_line) filter (where nth_last = 1) as example, count(*) as failures,
    count(distinct project_id) filter (where project_id <> '-1') as projects,
    min(triggered_at) as first_triggered_at, max(triggered_at) as last_triggered_at,
    max(build_id) filter (where nth_last = 1) as last_build_id,
    count(*) filter (where spans_ago = 0) as failures_last_7_days, count(*) filter (where spans_ago = 1) as failures_7_days_before,
    count(distinct project_id) filter (where spans_ago = 0 and project_id <> '-1') as projects_last_7_days,
    count(distinct project_id) filter (where spans_ago = 1 and project_id <> '-1') as projects_7_days_before
  from failure
  group by {{ key }}
), hit as (
  select count(distinct project_id) filter (where project_id <> '-1') as projects from failure
), alike as (
  select row_number() over (order by counted.projects desc, failures desc, key) as rank, key, last_error_class, example, failures,
    cast(failures as double) / sum(failures) over () as failure_share, counted.projects,
    cast(counted.projects as double) / nullif(hit.projects, 0) as project_share,
    first_triggered_at, last_triggered_at, last_build_id,
    failures_last_7_days, failures_7_days_before, projects_last_7_days, projects_7_days_before
  from counted
  cross join hit
)
{%- endmacro %}

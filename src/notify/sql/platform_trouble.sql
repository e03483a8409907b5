-- The newest hour of trouble of the three before the last look, which the page of now names too. The position is that hour: as
-- long as no three hours lie between, it is one trouble, and one notice.
with newest as (
  select hour.* from report.incident_hours as hour
  join report.freshness on resource = 'build' and hour >= date_trunc('hour', current_through, 'UTC') - interval '3 hours'
    and hour <= current_through
  order by hour desc limit 1
)
select coalesce((select hour::text from newest), :position::text, '-infinity') as position,
  (
    select coalesce(jsonb_agg(jsonb_build_object(
      'hour', hour, 'until', hour + interval '1 hour', 'projects', projects, 'projects_failing', projects_failing,
      'usual', round(projects_expected), 'projects_expected', round(projects_expected::numeric, 1),
      'builds', builds, 'failed', failed)), '[]')
    from newest where hour > :position::text::timestamptz + interval '3 hours'
  ) as news

-- The trouble of the platform at the last look, which the page of now names too. The position is its newest hour: as long as no
-- three hours lie between, it is one trouble, and one notice.
with trouble as (
  select trouble.*, current_through as looked_at
  from report.freshness cross join lateral report.platform_trouble(current_through) as trouble where resource = 'build'
)
select coalesce((select hour::text from trouble), :position::text, '-infinity') as position,
  (
    select coalesce(jsonb_agg(jsonb_build_object(
      'since', since, 'looked_at', looked_at, 'hour', hour, 'until', until, 'projects', projects,
      'projects_failing', projects_failing, 'usual', round(projects_expected), 'projects_expected', round(projects_expected::numeric, 1),
      'builds', builds, 'failed', failed)), '[]')
    from trouble where hour > :position::text::timestamptz + interval '3 hours'
  ) as news

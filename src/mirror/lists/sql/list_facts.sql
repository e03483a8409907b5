-- The newest count of each list, the size of its pages, the limit that the service gave to the last ones, when its schema was asked for,
-- and the newest syncs that began to read it and that read it well.
select of.resource, counted.total_count as records, sized.page_size as size, sized.shrunk_at as "shrunkAt",
  (select (meta ->> 'limit')::bigint from sync.pages where pages.resource = of.resource order by seq limit 1) as limit,
  (select max(asked_at) from sync.upstream_schemas where upstream_schemas.resource = of.resource) as "schemaAskedAt",
  (
    select run_id from sync.walks join sync.runs on runs.id = run_id
    where walks.resource = of.resource and kind <> 'watch' order by run_id desc limit 1
  ) as "begunRunId",
  (
    select run_id from sync.walks join sync.runs on runs.id = run_id
    where walks.resource = of.resource and is_good and kind <> 'watch' order by run_id desc limit 1
  ) as "goodRunId"
from unnest(:resources::text[]) as of (resource)
left join lateral (
  select total_count from sync.walks
  where walks.resource = of.resource and total_count is not null order by run_id desc limit 1
) as counted on true
left join sync.page_sizes as sized on sized.resource = of.resource

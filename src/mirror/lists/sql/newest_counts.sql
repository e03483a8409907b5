-- The newest count of each list, the size of its pages, and the limit that the service gave to the last ones.
select of.resource, counted.total_count as records,
  (select page_size from sync.page_sizes where page_sizes.resource = of.resource) as size,
  (select (meta ->> 'limit')::bigint from sync.pages where pages.resource = of.resource order by seq limit 1) as limit
from unnest(:resources::text[]) as of (resource)
cross join lateral (
  select total_count from sync.walks
  where walks.resource = of.resource and total_count is not null order by run_id desc limit 1
) as counted

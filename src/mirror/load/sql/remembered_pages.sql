-- The next remembered pages of each list. Without a hash: a page that was read in another way, which is read again.
select resource, seq, request, meta, ids, loaded_at::text as "loadedAt", run_id as "runId",
  case when normalizer_version = reading then encode(body_hash, 'hex') else '' end as "bodyHash"
from unnest(:resources::text[], :readings::int[]) as of (name, reading)
cross join lateral (
  select * from sync.pages where resource = name and seq >= :from order by seq limit :count
) as page
order by resource, seq

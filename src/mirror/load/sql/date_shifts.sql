-- By how many milliseconds the dates of replies differ from those that are stored for the same builds.
select extract(epoch from shown.date - builds.date)::float8 * 1000 as "byMs", count(*)::int as builds
from unnest(:ids::text[], :dates::text[]::timestamp[]) as shown (id, date)
join mirror.builds on builds.id = shown.id
where shown.date is not null and builds.date is not null and deleted_at is null
group by 1

select lately.*, known.error_line, finished, finished_before
from (
  select error_line_id, count(*) filter (where is_last) as failures, count(*) filter (where not is_last) as failures_before,
    count(distinct project_id) filter (where is_last and project_id <> '-1') as projects,
    min(triggered_at) filter (where is_last) as since,
    (array_agg(build_id order by triggered_at, build_id) filter (where is_last))[1] as first_build_id
  from report.fact_builds
  cross join lateral (select triggered_at > :now::timestamptz - interval '24 hours' as is_last) as part
  where failed = 1
    and triggered_on >= (:now::timestamptz - interval '29 days')::date
    and triggered_at > :now::timestamptz - interval '29 days' and triggered_at <= :now::timestamptz
  group by error_line_id
  having count(distinct project_id) filter (where is_last and project_id <> '-1') >= 5
) as lately
join report.error_lines as known using (error_line_id)
cross join (
  select least(28, floor(extract(epoch from :now::timestamptz - min(day)::timestamp at time zone 'UTC') / 86400) - 1)::float8 as days
  from report.dim_dates
) as history
cross join (
  select count(succeeded) filter (where is_last) as finished, count(succeeded) filter (where not is_last) as finished_before
  from report.fact_builds
  cross join lateral (select triggered_at > :now::timestamptz - interval '24 hours' as is_last) as part
  where triggered_on >= (:now::timestamptz - interval '29 days')::date
    and triggered_at > :now::timestamptz - interval '29 days' and triggered_at <= :now::timestamptz
) as ended
cross join lateral (
  select lately.failures / nullif(finished, 0)::float8 - failures_before / nullif(finished_before, 0)::float8 as by,
    report.rate_difference_low(lately.failures, finished, failures_before, finished_before) as low
) as difference
where error_line is not null and days >= 7
  and by - :wider * (by - low) > 0
  and lately.failures * finished_before > 2 * failures_before * finished
order by projects desc, failures desc, error_line_id
limit 20 -- on the page

select triggered_at > :now::timestamptz - interval '24 hours' as is_last_day,
  count(succeeded) as finished, sum(succeeded) as succeeded
from report.fact_builds
where triggered_on >= (:now::timestamptz - interval '8 days')::date
  and triggered_at > :now::timestamptz - interval '8 days' and triggered_at <= :now::timestamptz
group by is_last_day

-- Builds that stopped arriving, and that arrive again, by `report.arrivals`. A mirror that has not looked within five minutes
-- knows nothing, so its mark stays. The position is the last build before the silence: one silence is one notice, and it ends
-- with a build that was triggered later. The same silence may be called otherwise after weeks.
with mark as (
  select :position::text as position, :position::text::jsonb ->> 'build' as build_id,
    (:position::text::jsonb ->> 'at')::timestamptz as at
), fact as (
  select *, case when state = 'quiet'
    then jsonb_build_object('build', last_build_id, 'at', last_build_at)::text else '{}' end as position
  from report.arrivals
  where :position::text is null or reason is distinct from 'clock'
    and looked_at between :now::timestamptz - interval '5 minutes' and :now::timestamptz + interval '5 minutes'
), news as (
  select 1 as place, jsonb_build_object(
    'turn', 'resumed', 'last_build_id', mark.build_id, 'quiet_since', mark.at, 'resumed_at', resumed.at,
    'gap_s', extract(epoch from resumed.at - mark.at)::float8) as fact
  from mark cross join fact cross join lateral (
    select min(triggered_at) as at from report.fact_builds
    where triggered_on >= (mark.at at time zone 'UTC')::date and triggered_at > mark.at and triggered_at <= looked_at
  ) as resumed
  where last_build_at > mark.at
  union all
  select 2, jsonb_build_object(
    'turn', 'quiet', 'last_build_id', last_build_id, 'last_build_at', last_build_at, 'looked_at', looked_at, 'gap_s', gap_s,
    'longest_gap_s', longest_gap_s, 'usual', usual_since, 'fewest', fewest_since)
  from fact where state = 'quiet' and last_build_id is distinct from (select build_id from mark)
)
select case when last_build_at > mark.at or mark.at is null then fact.position else mark.position end as position,
  (select coalesce(jsonb_agg(news.fact order by place), '[]') from news) as news
from mark cross join fact

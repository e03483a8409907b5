-- The slower of two clocks, where the newest run ended shortly before it and saw no clock that was far from the service's.
with moment as (select least(now(), :now::timestamptz) as at)
select at from moment, (
  select * from sync.runs where status <> 'running' order by id desc limit 1
) as newest
where newest.finished_at > at - :newestWithin::interval
  and abs(coalesce(newest.clock_ahead_min_ms, 0)) < :clockDiffersMs::int

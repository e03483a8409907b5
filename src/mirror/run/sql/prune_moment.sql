-- The slower of two clocks, where the newest run that heard the time of the service ended shortly before it and was not far from that time.
-- A run that heard none proves nothing: by a clock that is years ahead, the certificate of the service has ended.
with moment as (select least(now(), :now::timestamptz) as at)
select at from moment, (
  select * from sync.runs where status <> 'running' and clock_ahead_min_ms is not null order by id desc limit 1
) as newest
where newest.finished_at > at - :newestWithin::interval
  and newest.clock_ahead_min_ms between - :clockDiffersMs::int and :clockDiffersMs::int

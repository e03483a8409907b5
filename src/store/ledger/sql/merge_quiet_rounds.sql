with round as (
  select run.id, run.rounds, run.started_at, run.rounds_since, run.unfinished, deficit, unstored, unshown, repeated, held,
    lead(run.rounds_since) over (order by run.id) - run.started_at as gap
  from (select * from sync.runs where id <= :runId order by id desc limit :lookBack) as run
  left join sync.walks as walk on walk.run_id = run.id and walk.resource = 'build'
), like_newest as (
  select round.id, bool_and(coalesce(
    newest.rounds is not null and round.rounds is not null
    and (round.unfinished, round.deficit, round.unstored, round.unshown, round.repeated, round.held) is not distinct from
      (newest.unfinished, newest.deficit, newest.unstored, newest.unshown, newest.repeated, newest.held)
    and date_trunc('hour', round.started_at, 'UTC') = date_trunc('hour', newest.started_at, 'UTC')
    and (round.id = newest.id or round.gap between interval '0' and :neighboursWithin::interval), false
  )) over (order by round.id desc) as is_merged
  from round join round as newest on newest.id = :runId
), removed as (
  delete from sync.runs using like_newest
  where runs.id = like_newest.id and is_merged and runs.id < :runId
    and not exists (select from sync.open_builds where open_builds.run_id = runs.id)
    and not exists (select from sync.missing_records where missing_records.run_id = runs.id)
    and not exists (select from sync.places where places.run_id = runs.id)
    and not exists (select from rollup.state where state.run_id = runs.id)
  returning runs.rounds, runs.rounds_first_id, runs.rounds_since, runs.rounds_requests, runs.rounds_bytes
)
update sync.runs set rounds = runs.rounds + merged.rounds, rounds_first_id = least(runs.rounds_first_id, merged.first_id),
  rounds_since = least(runs.rounds_since, merged.since),
  rounds_requests = runs.rounds_requests + merged.requests, rounds_bytes = runs.rounds_bytes + merged.bytes
from (
  select sum(rounds)::int as rounds, min(rounds_first_id) as first_id, min(rounds_since) as since, sum(rounds_requests)::bigint as requests,
    sum(rounds_bytes)::bigint as bytes
  from removed having count(*) > 0
) as merged
where id = :runId

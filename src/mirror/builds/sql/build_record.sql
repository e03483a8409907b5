select build.id, coalesce(extra -> 'values' ->> 'date', replace(date::text, ' ', 'T')) as date,
  build.state, known.stage, success, type, life, first_seen_at, changed_at, deleted_at, local.earliest, local.latest, local.hour,
  case when mirror.history_begins_at() > first_seen_at then mirror.history_begins_at() end as changes_pruned_before
from mirror.builds as build
left join sync.build_states as known on known.state = sync.state_word(build.state)
left join lateral mirror.read_local_time(date, :zone) as local on date is not null
where build.id = :id

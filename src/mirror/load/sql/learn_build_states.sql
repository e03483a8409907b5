with seen_left as (
  -- Only the transitions since the last look are read, from the end of their table.
  select distinct known.state
  from sync.build_states as known
  join mirror.build_transitions as transition
    on transition.run_id >= known.run_id and sync.state_word(transition.from_state) = known.state
  where known.source = 'learned' and transition.to_state is distinct from :vanished::text
    and sync.state_word(transition.to_state) is distinct from known.state
), unlearned as (
  delete from sync.build_states where state in (select state from seen_left)
), looked as (
  update sync.build_states set run_id = :runId
  where source = 'learned' and state not in (select state from seen_left)
), stayed_in as (
  select sync.state_word(build.state) as state
  from sync.open_builds as open
  join mirror.builds as build on build.id = open.build_id
  -- Since it was first seen in the state, and not since its date: it may have entered the state only then.
  cross join lateral (
    select not_after from mirror.build_transitions where build_id = open.build_id order by seq desc limit 1
  ) as entered
  where open.vanished_at is null and open.seen_at - entered.not_after >= :hours::int * interval '1 hour'
    and length(build.state) <= :longest::int
  group by 1
  having count(*) >= :builds::int
)
insert into sync.build_states (state, stage, is_final, source, run_id)
select state, 'cancelled', true, 'learned', :runId
from stayed_in
where not exists (select from sync.build_states as known where known.state = stayed_in.state)
  and not exists (
    select from mirror.build_transitions as transition
    where sync.state_word(transition.from_state) = stayed_in.state and transition.to_state is distinct from :vanished::text
      and sync.state_word(transition.to_state) is distinct from stayed_in.state
  )

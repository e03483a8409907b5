select state, stage, is_final, source, exists (
    select from sync.open_builds as open join mirror.builds as build on build.id = open.build_id
    where open.vanished_at is null and build.state is not null
      and not exists (select from sync.build_states as known where known.state = sync.state_word(build.state))
  ) as "isAnyUnknown"
from sync.build_states

delete from sync.open_builds as open
using mirror.builds as build, sync.build_states as known
where build.id = open.build_id and known.state = sync.state_word(build.state) and known.is_final

-- Open builds that no reply showed since a walk began, without those that could not be stored.
select build_id as id from sync.open_builds as open
where build_id > :last and (run_id, seen_at) < (:beganRunId, :startedAt::timestamptz) and vanished_at is null
  and not exists (
    select from sync.quarantine
    where resource = 'build' and record_id = open.build_id and resolved_at is null)
order by build_id limit :window

-- A hole in a list, once for each place while it is unresolved.
insert into sync.quarantine (run_id, resource, reason, request, created_at, list_offset)
select :runId::bigint, :resource, :reason, :request,
  :observedAt::timestamptz, :offset::bigint
where not exists (
  select from sync.quarantine
  where resource = :resource and resolved_at is null and list_offset = :offset::bigint)

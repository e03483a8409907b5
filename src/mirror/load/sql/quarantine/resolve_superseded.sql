-- Resolves records whose row was written, or marked as deleted, after the bad copy was seen, or that a later page without a bad record
-- lists: those of one resource, or of all.
with unresolved as materialized (
  select id, run_id, resource, record_id, created_at
  from sync.quarantine
  where resolved_at is null and record_id is not null and resource = coalesce(:resource, resource)
), listed as materialized (
  select distinct unresolved.id
  from unresolved
  join (
    select page.resource, page.run_id, page.loaded_at, listed.id
    from sync.pages as page cross join unnest(page.ids) as listed (id)
    where page.body_hash <> '' and exists (select from unresolved)
      and listed.id in (select record_id from unresolved)
  ) as page on page.resource = unresolved.resource and page.id = unresolved.record_id
    and (page.run_id, page.loaded_at) > (unresolved.run_id, unresolved.created_at)
)
update sync.quarantine as bad set resolved_at = :at::timestamptz
from unresolved
where bad.id = unresolved.id and (
  unresolved.id in (select id from listed)
  or case unresolved.resource
    when 'build' then exists (
      select from mirror.builds as record
      where record.id = unresolved.record_id and (changed_run_id, changed_at) > (unresolved.run_id, unresolved.created_at))
    when 'file' then exists (
      select from mirror.files as record
      where record.id = unresolved.record_id and (changed_run_id, changed_at) > (unresolved.run_id, unresolved.created_at))
    when 'project' then exists (
      select from mirror.projects as record
      where record.id = unresolved.record_id and (changed_run_id, changed_at) > (unresolved.run_id, unresolved.created_at))
    when 'user' then exists (
      select from mirror.users as record
      where record.id = unresolved.record_id and (changed_run_id, changed_at) > (unresolved.run_id, unresolved.created_at))
    when 'version' then exists (
      select from mirror.versions as record
      where record.id = unresolved.record_id and (changed_run_id, changed_at) > (unresolved.run_id, unresolved.created_at))
  end
)

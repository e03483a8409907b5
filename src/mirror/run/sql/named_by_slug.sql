-- The projects that references name by their slugs. A number is an id, even if another project has it as its slug. Where several
-- have a slug, one that still exists is used.
select distinct on (slug) slug, id from mirror.projects
where slug in (
  select target_key from mirror.unresolved_references where target_resource = 'project' and target_key !~ '^[0-9]+$')
order by slug, deleted_at nulls first, id

-- The migrations and the definitions of the reports that the database has.
select
  coalesce(json_agg(json_build_object('tag', tag, 'hash', hash, 'appliedAt', applied_at::text, 'additive', additive)), '[]') as applied,
  (select coalesce(json_agg(json_build_object('name', name, 'hash', hash, 'version', version)), '[]') from sync.definitions) as defined
from sync.migrations

-- Empties the records of users, as if they had changed in the newest run. Without a hash they differ from any reply.
update mirror.users set username = null, first_name = null, last_name = null, last_login = null, extra = null,
  resource_uri = '/api/v1/user/' || id || '/', record_hash = '', changed_at = now(),
  changed_run_id = greatest(changed_run_id, (select max(id) from sync.runs))
where id = any (:ids::text[])

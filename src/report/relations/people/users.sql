CREATE OR REPLACE VIEW report_people.users AS
SELECT person.id AS user_id, username, first_name, last_name, last_login AT TIME ZONE state.source_timezone AS last_login_at,
  deleted_at IS NOT NULL AS is_deleted, first_seen_at, deleted_at
FROM mirror.users AS person LEFT JOIN rollup.state ON true;

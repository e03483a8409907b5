CREATE OR REPLACE VIEW report_people.project_users AS
SELECT project_id, user_id, position FROM mirror.project_users WHERE user_id IS NOT NULL;
COMMENT ON VIEW report_people.project_users IS 'Who administrates which project? One row per project and user.';
COMMENT ON COLUMN report_people.project_users.position IS 'The place in the project''s own list, from 0.';

CREATE OR REPLACE VIEW report_people.project_users AS
SELECT project_id, user_id, position FROM mirror.project_users WHERE user_id IS NOT NULL;

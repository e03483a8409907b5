CREATE OR REPLACE VIEW report_people.project_maintainers AS
SELECT own.project_id, array_agg(person.username ORDER BY own.position, person.id) AS maintainers
FROM mirror.project_users AS own
JOIN mirror.users AS person ON person.id = own.user_id
WHERE person.deleted_at IS NULL AND person.username <> ''
GROUP BY own.project_id;

-- When series changed between success and failure: a row for each streak of failures that began, and one for each that ended, by the trigger
-- of the build that showed it.
CREATE OR REPLACE VIEW rollup.turns AS
SELECT (broke_at AT TIME ZONE 'UTC')::date AS day, project_id, CASE WHEN last_succeeded_build_id IS NULL THEN 'born_broken' ELSE 'broke' END AS turn
FROM rollup.streaks WHERE broke_at IS NOT NULL
UNION ALL
SELECT (recovered_at AT TIME ZONE 'UTC')::date, project_id, 'fixed'
FROM rollup.streaks WHERE recovered_at IS NOT NULL;

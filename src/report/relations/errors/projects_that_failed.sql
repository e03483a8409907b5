-- How many projects have had a failure.
CREATE OR REPLACE VIEW rollup.projects_that_failed AS
SELECT count(*) AS projects
FROM (SELECT FROM rollup.series WHERE failed > 0 AND project_id <> '-1' GROUP BY project_id) AS project;

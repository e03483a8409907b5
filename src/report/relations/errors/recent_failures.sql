-- The failures of the last 7 days, and of the 7 before.
CREATE OR REPLACE VIEW rollup.recent_failures AS
SELECT error_class, error_fingerprint, error_line_id, project_id, triggered_on > (SELECT day - 7 FROM rollup.last_day) AS is_last
FROM rollup.builds
-- Subqueries, so that the index of failures by day is used.
WHERE failed = 1 AND triggered_on > (SELECT day - 14 FROM rollup.last_day) AND triggered_on <= (SELECT day FROM rollup.last_day);

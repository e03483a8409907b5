-- The day up to which spans such as the last 7 days are counted. Not today: a mirror that nobody synced for a week must not show an empty week.
CREATE OR REPLACE VIEW rollup.last_day AS SELECT (coalesce(covered_through, refreshed_at) AT TIME ZONE 'UTC')::date AS day FROM rollup.state;

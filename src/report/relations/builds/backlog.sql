CREATE OR REPLACE VIEW report.backlog AS
SELECT hour, coalesce(open_min, 0) AS open_min, coalesce(open_max, 0) AS open_max, is_covered
FROM (SELECT min(hour) AS first, max(hour) AS last FROM rollup.backlog) AS span
CROSS JOIN LATERAL generate_series(span.first, span.last, '1 hour') AS hour
LEFT JOIN rollup.backlog USING (hour)
CROSS JOIN LATERAL (SELECT coalesce(hour <= (SELECT covered_through FROM rollup.state), false) AS is_covered) AS coverage
-- Where nothing is covered only what is known is there.
WHERE is_covered OR open_max > 0;

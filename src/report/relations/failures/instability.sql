-- When many series are tried, chance alone makes some of them look flaky. The correction is that of Benjamini and Hochberg, "Controlling
-- the false discovery rate" (1995): of the series that are called flaky, 5 % are expected to be so by chance. Holm's would call none
-- flaky in a large mirror, because 20 builds cannot be less likely than 1 in 92,378.
CREATE OR REPLACE VIEW report.instability AS
WITH tried AS (
  -- Many series have the same counts, so each test is made once. A series with one result was not tried, because it cannot flip.
  SELECT recent_finished, recent_succeeded, recent_flips, count(*) AS series,
    rollup.flips_p_value(recent_succeeded, recent_finished - recent_succeeded, recent_flips) AS p_value
  FROM rollup.series WHERE recent_succeeded > 0 AND recent_succeeded < recent_finished
  GROUP BY recent_finished, recent_succeeded, recent_flips
), tested AS (
  SELECT recent_finished, recent_succeeded, recent_flips, p_value, min(p_value * all_series / rank) OVER (ORDER BY p_value DESC) AS p_value_adjusted
  FROM (SELECT *, sum(series) OVER () AS all_series, sum(series) OVER (ORDER BY p_value) AS rank FROM tried) AS ranked
)
SELECT series.project_id, project.project_slug, series.version_id, version.version_slug, series.type, series.recent_finished AS finished,
  series.recent_succeeded AS succeeded, series.recent_finished - series.recent_succeeded AS failed, series.recent_flips AS flips,
  series.recent_flips::float8 / (series.recent_finished - 1) AS flip_rate,
  2.0::float8 * series.recent_succeeded * (series.recent_finished - series.recent_succeeded)
    / (series.recent_finished * (series.recent_finished - 1)) AS flip_rate_by_chance,
  tested.p_value, tested.p_value_adjusted, coalesce(tested.p_value_adjusted <= 0.05, false) AS is_flaky,
  nullif(series.reference, '') AS reference
FROM rollup.series AS series
LEFT JOIN tested USING (recent_finished, recent_succeeded, recent_flips)
LEFT JOIN report.dim_projects AS project ON project.project_id = series.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = series.version_id
WHERE series.recent_finished >= 2;

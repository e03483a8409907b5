CREATE OR REPLACE VIEW report.instability AS
SELECT series.project_id, project.project_slug, series.version_id, version.version_slug, series.type, series.recent_finished AS finished,
  series.recent_succeeded AS succeeded, series.recent_finished - series.recent_succeeded AS failed, series.recent_flips AS flips,
  series.recent_flips::float8 / (series.recent_finished - 1) AS flip_rate,
  2 * share.succeeded * (1 - share.succeeded) AS flip_rate_by_chance
FROM rollup.series AS series
CROSS JOIN LATERAL (SELECT series.recent_succeeded::float8 / series.recent_finished AS succeeded) AS share
LEFT JOIN report.dim_projects AS project ON project.project_id = series.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = series.version_id
WHERE series.recent_finished >= 2;

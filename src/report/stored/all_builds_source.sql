-- The same rows as rollup.builds_source, for all builds at once. Most error lines are equal, so each
-- different one is classified once. Only failures wait in memory for that, and not all facts. OFFSET 0 keeps facts
-- where they are computed: in several processes, and not in the one that joins them.
CREATE OR REPLACE VIEW rollup.all_builds_source AS
WITH failure AS MATERIALIZED (
  SELECT build.id AS build_id, coalesce(rollup.error_line(log.error, log.setup_error, log.output, log.setup), archived.error_line, '') AS found_line
  FROM mirror.builds AS build LEFT JOIN mirror.build_logs AS log ON log.build_id = build.id
  LEFT JOIN mirror.archived_logs AS archived ON archived.build_id = build.id
  JOIN sync.build_states AS known ON known.state = sync.state_word(build.state) AND known.stage = 'result'
  WHERE NOT build.success
), line AS MATERIALIZED (
  SELECT found_line, described.*
  FROM (SELECT DISTINCT found_line FROM failure) AS known
  CROSS JOIN LATERAL rollup.describe_line(found_line) AS described
)
SELECT fact.build_id, fact.project_id, fact.version_id, fact.type, fact.state, fact.outcome, fact.succeeded, fact.failed, fact.is_settled,
  fact.triggered_at, fact.triggered_on, fact.is_time_ambiguous, fact.finished_after, fact.finished_before, fact.duration_s_min,
  fact.duration_s_max, failure.found_line, fact.first_seen_at, fact.deleted_at, fact.last_seen_at, fact.record_hash,
  fact.reference, fact.ahead_until, fact.queued_s_min, fact.queued_s_max, fact.building_s_min, fact.building_s_max,
  nullif(failure.found_line, '') AS error_line, line.error_class, line.error_fingerprint,
  line.masked_line, line.error_line_id
FROM (SELECT * FROM rollup.build_facts OFFSET 0) AS fact
LEFT JOIN failure ON failure.build_id = fact.build_id
LEFT JOIN line ON line.found_line = failure.found_line;

-- The facts of each build from the mirror, without the class of its error line. sync.build_states says what its state means; a word
-- that is not there means that it is open.
CREATE OR REPLACE VIEW rollup.build_facts AS
SELECT
  build.id AS build_id,
  coalesce(build.project_id, '-1') AS project_id,
  coalesce(build.version_id, kept.version_id, '-1') AS version_id,
  left(coalesce(nullif(build.type, ''), '(none)'), 100) AS type,
  nullif(build.state, '') AS state,
  judged.outcome,
  CASE judged.outcome WHEN 'succeeded' THEN 1 WHEN 'failed' THEN 0 END AS succeeded,
  CASE judged.outcome WHEN 'failed' THEN 1 WHEN 'succeeded' THEN 0 END AS failed,
  judged.outcome <> 'open' AND (judged.outcome <> 'unknown_state' OR coalesce(known.is_final, false)) AS is_settled,
  triggered.at AS triggered_at,
  (triggered.at AT TIME ZONE 'UTC')::date AS triggered_on,
  -- Only where the offset differs between a day before and a day after can the hour be ambiguous.
  coalesce(((build.date - interval '1 day') AT TIME ZONE state.source_timezone) + interval '2 days'
    <> (build.date + interval '1 day') AT TIME ZONE state.source_timezone
    AND rollup.is_ambiguous(build.date, state.source_timezone), false) AS is_time_ambiguous,
  CASE WHEN isfinite(finish.not_before) THEN finish.not_before END AS finished_after,
  finish.not_after AS finished_before,
  -- The trigger is between the bounds of the first transition. The date itself is not an upper bound, because
  -- the clock that dates builds may be behind.
  CASE WHEN known.stage = 'cancelled' THEN NULL
    WHEN isfinite(finish.not_before) THEN greatest(0, rollup.seconds(finish.not_before - first.not_after))
    WHEN finish.not_after IS NOT NULL THEN 0
  END AS duration_s_min,
  CASE WHEN known.stage <> 'cancelled' AND isfinite(first.not_before) THEN rollup.seconds(finish.not_after - first.not_before) END AS duration_s_max,
  -- Only for failed builds; '' where there is no line. Where the log was removed, its line stayed.
  CASE WHEN judged.outcome = 'failed' THEN coalesce(rollup.error_line(log.error, log.setup_error, log.output, log.setup), archived.error_line, '') END AS found_line,
  build.first_seen_at,
  build.deleted_at,
  CASE WHEN NOT coalesce(known.is_final, false) AND judged.outcome <> 'vanished' THEN seen.at END AS last_seen_at,
  build.record_hash,
  -- The same for all builds that may belong to one series. Those of a project that name no version may be of any of them. A long
  -- reference is cut, because an index holds it.
  CASE
    WHEN coalesce(build.version_id, kept.version_id, nullif(of_version.uri, '')) IS NULL THEN '(none)'
    WHEN build.project_id IS NOT NULL AND coalesce(build.version_id, kept.version_id) IS NOT NULL THEN ''
    WHEN length(concat(of_project.uri, of_version.uri)) > 300 THEN md5(concat_ws(' ', of_project.uri, of_version.uri))
    ELSE concat_ws(' ', of_project.uri, of_version.uri)
  END AS reference,
  triggered.ahead_until,
  -- Work began between the bounds of `work`; where no sighting shows work, between those of the finish. A cancelling shows none.
  CASE WHEN work.seq IS NULL AND known.stage = 'cancelled' THEN NULL
    WHEN isfinite(coalesce(work.not_before, finish.not_before))
      THEN greatest(0, rollup.seconds(coalesce(work.not_before, finish.not_before) - first.not_after))
    WHEN coalesce(work.not_after, finish.not_after) IS NOT NULL THEN 0
  END AS queued_s_min,
  CASE WHEN (work.seq IS NOT NULL OR known.stage <> 'cancelled') AND isfinite(first.not_before)
    THEN rollup.seconds(coalesce(work.not_after, finish.not_after) - first.not_before) END AS queued_s_max,
  CASE WHEN known.stage = 'cancelled' THEN NULL
    WHEN work.not_after IS NOT NULL AND isfinite(finish.not_before) THEN greatest(0, rollup.seconds(finish.not_before - work.not_after))
    WHEN finish.not_after IS NOT NULL THEN 0
  END AS building_s_min,
  CASE WHEN known.stage <> 'cancelled' AND isfinite(coalesce(work.not_before, finish.not_before))
    THEN rollup.seconds(finish.not_after - coalesce(work.not_before, finish.not_before)) END AS building_s_max
FROM mirror.builds AS build
-- The key says that this is one row, which the planner does not know of a table without statistics.
JOIN rollup.state ON state.id = 1
LEFT JOIN sync.build_states AS known ON known.state = sync.state_word(build.state)
LEFT JOIN sync.open_builds AS open ON open.build_id = build.id
LEFT JOIN mirror.unresolved_references AS of_project ON build.project_id IS NULL AND of_project.record_id = build.id
  AND (of_project.resource, of_project.field, of_project.position) = ('build', 'project', 0)
LEFT JOIN mirror.unresolved_references AS of_version ON build.version_id IS NULL AND of_version.record_id = build.id
  AND (of_version.resource, of_version.field, of_version.position) = ('build', 'version', 0)
-- The service sends no version any more for the builds of one that was deleted. They stay builds of that one.
LEFT JOIN (
  SELECT kept.build_id, kept.version_id FROM mirror.kept_versions AS kept
  JOIN mirror.versions AS version ON version.id = kept.version_id AND version.deleted_at IS NOT NULL
) AS kept ON nullif(build.version_uri, '') IS NULL AND kept.build_id = build.id
LEFT JOIN mirror.build_transitions AS first ON first.build_id = build.id AND first.seq = 1
-- The last transition to the state in which it ended. A LIMIT, or a subquery among the columns, would prevent parallel
-- processes.
LEFT JOIN mirror.build_transitions AS finish ON known.is_final AND finish.build_id = build.id AND finish.to_state = build.state
  -- This changes nothing but the size of the join.
  AND finish.to_state NOT IN (SELECT state FROM sync.build_states WHERE NOT is_final)
  AND NOT EXISTS (
    SELECT FROM mirror.build_transitions AS later
    WHERE later.build_id = finish.build_id AND later.to_state = finish.to_state AND later.seq > finish.seq
      AND later.to_state NOT IN (SELECT state FROM sync.build_states WHERE NOT is_final)
  )
-- The first sign of work, if the build ended later than that. Words that nobody knows are such signs. Most words are spelled as
-- they are known, and the first of the two conditions costs less.
LEFT JOIN mirror.build_transitions AS work ON work.build_id = build.id AND work.to_state <> 'vanished'
  AND work.to_state NOT IN (SELECT state FROM sync.build_states WHERE stage <> 'working')
  AND sync.state_word(work.to_state) NOT IN (SELECT state FROM sync.build_states WHERE stage <> 'working')
  AND NOT EXISTS (
    SELECT FROM mirror.build_transitions AS earlier
    WHERE earlier.build_id = work.build_id AND earlier.seq < work.seq AND earlier.to_state <> 'vanished'
      AND earlier.to_state NOT IN (SELECT state FROM sync.build_states WHERE stage <> 'working')
      AND sync.state_word(earlier.to_state) NOT IN (SELECT state FROM sync.build_states WHERE stage <> 'working')
  )
  AND (finish.seq < work.seq) IS NOT TRUE
LEFT JOIN mirror.build_logs AS log ON known.stage = 'result' AND NOT build.success AND log.build_id = build.id
LEFT JOIN mirror.archived_logs AS archived ON known.stage = 'result' AND NOT build.success AND archived.build_id = build.id
CROSS JOIN LATERAL (SELECT build.date AT TIME ZONE state.source_timezone AS at) AS dated
-- A date beyond tomorrow is an error. It counts as no date, until its day is tomorrow.
CROSS JOIN LATERAL (
  SELECT CASE WHEN NOT is_ahead THEN dated.at END AS at,
    CASE WHEN is_ahead THEN ((dated.at AT TIME ZONE 'UTC')::date - 1)::timestamp AT TIME ZONE 'UTC' END AS ahead_until
  FROM (SELECT (dated.at AT TIME ZONE 'UTC')::date > (state.refreshed_at AT TIME ZONE 'UTC')::date + 1 AS is_ahead) AS judged
) AS triggered
CROSS JOIN LATERAL (
  SELECT coalesce(open.seen_at, build.changed_at) AS at,
    sync.open_seconds(coalesce(open.seen_at, build.changed_at), triggered.at, build.first_seen_at) AS age_s
) AS seen
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN known.stage = 'result' THEN CASE build.success WHEN true THEN 'succeeded' WHEN false THEN 'failed' ELSE 'unknown_state' END
    WHEN known.is_final THEN known.stage
    WHEN build.deleted_at IS NOT NULL OR open.vanished_at IS NOT NULL THEN 'vanished'
    WHEN seen.age_s > state.stuck_after_s THEN 'stuck'
    WHEN known.state IS NULL THEN 'unknown_state'
    ELSE 'open'
  END AS outcome
) AS judged;

-- The newest walk is that of the run with the highest number, because clocks may be wrong. A wrong clock
-- wrote any moment that is more than five minutes ahead of now; its age is not known.
-- A standby that has replayed all it received is not behind, however long its primary has been quiet. Without a
-- connection to the primary it cannot know that.
CREATE OR REPLACE VIEW report.freshness AS
SELECT of.resource, good.finished_at AS last_good_at, good.started_at AS current_through,
  CASE WHEN good.started_at <= now() + interval '5 minutes' THEN greatest(0, extract(epoch FROM now() - good.started_at))::float8 END AS lag_s,
  good.walk AS last_walk, whole.finished_at AS last_whole_at,
  attempt.started_at AS last_attempt_at, coalesce(ended.is_good, false) AS is_whole, counted.records,
  counted.deleted_records,
  (SELECT count(*) FROM sync.quarantine WHERE quarantine.resource = of.resource AND resolved_at IS NULL) AS quarantined,
  (SELECT refreshed_at FROM rollup.state) AS refreshed_at,
  ended.deficit + CASE WHEN ended.walk = 'head' THEN coalesce(ended.gap, 0) ELSE 0 END AS deficit,
  CASE WHEN count(good.finished_at) OVER () = count(*) OVER () THEN min(good.finished_at) OVER () END AS mirror_last_good_at,
  CASE WHEN count(good.started_at) OVER () = count(*) OVER () THEN min(good.started_at) OVER () END AS mirror_current_through,
  replica.lag_s AS replica_lag_s,
  (SELECT checked_at FROM rollup.state) AS facts_checked_at,
  (SELECT facts_repaired FROM rollup.state) AS facts_repaired,
  CASE of.resource WHEN 'build' THEN (SELECT covered_through FROM rollup.state) END AS covered_through,
  CASE of.resource WHEN 'build' THEN (SELECT builds_dated_ahead FROM rollup.state) END AS builds_dated_ahead,
  (SELECT run_id FROM rollup.state) AS refreshed_run_id,
  read.since AS read_since, held.records AS held_records, held.since AS held_since, held.until AS held_until,
  sampled.checked, sampled.equal AS checked_equal, sampled.nights AS check_nights, (
    SELECT (lists -> of.resource ->> 'wrong')::bigint FROM sync.checks WHERE lists ? of.resource ORDER BY id DESC LIMIT 1
  ) AS wrong,
  (SELECT failed_at FROM rollup.failed_refresh) AS refresh_failed_at,
  (SELECT error FROM rollup.failed_refresh) AS refresh_error,
  (SELECT min(finished_at) FROM sync.walks WHERE walks.resource = of.resource AND walk = 'whole') AS known_since,
  (SELECT dear_refreshed_at FROM rollup.state) AS expensive_refreshed_at
FROM rollup.resource_names AS of
LEFT JOIN rollup.resources AS counted ON counted.resource = of.resource
LEFT JOIN LATERAL (
  SELECT walk, started_at, finished_at FROM sync.walks
  WHERE walks.resource = of.resource AND is_good ORDER BY run_id DESC LIMIT 1
) AS good ON true
LEFT JOIN LATERAL (
  SELECT finished_at FROM sync.walks
  WHERE walks.resource = of.resource AND walk = 'whole' ORDER BY run_id DESC LIMIT 1
) AS whole ON true
LEFT JOIN LATERAL (
  SELECT coalesce(read_since, least(started_at, finished_at)) AS since FROM sync.walks
  WHERE walks.resource = of.resource AND (walk = 'whole' OR read_since IS NOT NULL) ORDER BY run_id DESC LIMIT 1
) AS read ON true
LEFT JOIN LATERAL (
  SELECT sum((lists -> of.resource ->> 'checked')::bigint)::bigint AS checked, sum((lists -> of.resource ->> 'equal')::bigint)::bigint AS equal,
    nullif(count(DISTINCT (checked_at AT TIME ZONE 'UTC')::date), 0) AS nights
  FROM sync.checks WHERE lists ? of.resource AND checked_at > now() - interval '30 days'
) AS sampled ON true
LEFT JOIN LATERAL (
  SELECT started_at FROM sync.walks WHERE walks.resource = of.resource ORDER BY run_id DESC LIMIT 1
) AS attempt ON true
LEFT JOIN LATERAL (
  SELECT walks.walk, walks.is_good, walks.deficit - coalesce(walks.unstored, 0) AS deficit,
    walks.unshown + walks.repeated - walks.held AS gap FROM sync.walks
  WHERE walks.resource = of.resource AND walk IS NOT NULL ORDER BY run_id DESC LIMIT 1
) AS ended ON true
CROSS JOIN LATERAL (
  SELECT count(*) AS records, min(noticed_at) AS since, nullif(max(missing.held_until), 'infinity') AS until
  FROM sync.missing_records AS missing WHERE missing.resource = of.resource AND missing.held_until IS NOT NULL
) AS held
CROSS JOIN (
  SELECT CASE
    WHEN NOT pg_is_in_recovery() THEN NULL
    WHEN pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn() AND EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 0
    ELSE greatest(0, extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()))
  END::float8 AS lag_s
) AS replica;

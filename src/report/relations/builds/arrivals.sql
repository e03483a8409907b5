-- Judged as of the moment up to which everything was read: a mirror that has not looked knows nothing of later builds.
-- The days to compare with end at the last build, so that a silence is never a part of what is usual. What came since
-- is compared with the same span after the same time of those days; a silence of days with their first 24 hours.
-- Four days of the same weekday say what is usual; all of them say what happened at least.
CREATE OR REPLACE VIEW report.arrivals AS
WITH looked AS MATERIALIZED (
  SELECT covered_through AS at FROM rollup.state WHERE id = 1
), last AS MATERIALIZED (
  SELECT last.build_id, last.triggered_at AS at, last.first_seen_at, looked.at AS until,
    least(looked.at - last.triggered_at, interval '1 day') AS span
  FROM looked
  CROSS JOIN LATERAL (
    SELECT build_id, triggered_at, first_seen_at FROM rollup.builds
    WHERE triggered_on <= (looked.at AT TIME ZONE 'UTC')::date AND triggered_at <= looked.at
    ORDER BY triggered_on DESC NULLS LAST, triggered_at DESC NULLS LAST, build_id DESC LIMIT 1
  ) AS last
), minutes AS MATERIALIZED (
  -- One pass that only counts, since a service may have a million builds in five weeks; so a gap of less than a minute is
  -- not seen, and counts as one. A week more than is compared with shows that the oldest day is a whole one.
  SELECT count(*)::int AS builds, min(triggered_at) AS oldest, max(triggered_at) AS newest,
    (count(*) FILTER (WHERE ago >= whole_days + interval '24 hours' - span))::int AS builds_since,
    extract(epoch FROM whole_days)::int / 86400 + 1 AS days_before_last,
    extract(epoch FROM days_before_look)::int / 86400 AS days_before
  FROM (
    SELECT build.triggered_at, last.span, last.at - build.triggered_at AS ago,
      date_bin('24 hours', zero + (last.at - build.triggered_at), zero) - zero AS whole_days,
      date_bin('24 hours', zero + (last.until - build.triggered_at), zero) - zero AS days_before_look
    FROM last
    CROSS JOIN (VALUES (timestamp '2000-01-01')) AS origin (zero)
    CROSS JOIN LATERAL (
      SELECT triggered_at FROM rollup.builds
      WHERE triggered_on BETWEEN (last.at AT TIME ZONE 'UTC')::date - 35 AND (last.at AT TIME ZONE 'UTC')::date
        AND triggered_at > last.at - interval '35 days' AND triggered_at <= last.at
    ) AS build
  ) AS placed
  GROUP BY whole_days, days_before_look, date_bin('1 minute', triggered_at, timestamptz '2000-01-01 00:00:00Z')
), recent AS MATERIALIZED (
  SELECT days_before_last, days_before, builds, builds_since, oldest,
    CASE WHEN builds > 1 OR before IS NOT NULL THEN greatest(oldest - before, interval '1 minute') END AS gap,
    ceil(extract(epoch FROM last.at - coalesce(before, oldest)) / 86400)::int AS gap_days
  FROM last CROSS JOIN (SELECT *, lag(newest) OVER (ORDER BY oldest) AS before FROM minutes) AS minute
), known AS MATERIALIZED (
  SELECT least(28, floor(extract(epoch FROM last.at - min(recent.oldest)) / 86400))::int AS days
  FROM last CROSS JOIN recent GROUP BY last.at
), since AS (
  SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY builds) FILTER (WHERE day % 7 = 0) AS usual, min(builds) AS fewest, max(builds) AS most
  FROM (
    SELECT day, coalesce(sum(recent.builds_since), 0)::int AS builds
    FROM known CROSS JOIN LATERAL generate_series(1, known.days) AS day
    LEFT JOIN recent ON recent.days_before_last = day
    GROUP BY day
  ) AS counted
), daily AS (
  SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY builds) FILTER (WHERE day > 0 AND day % 7 = 0) AS usual,
    min(builds) FILTER (WHERE day > 0) AS fewest, min(builds) FILTER (WHERE day = 0) AS builds
  FROM (
    SELECT day, coalesce(sum(recent.builds), 0)::int AS builds
    -- The last 24 hours are known where no whole day is.
    FROM known CROSS JOIN LATERAL generate_series(0, greatest(known.days, 1) - 1) AS day
    LEFT JOIN recent ON recent.days_before = day
    GROUP BY day
  ) AS counted
), judged AS (
  SELECT looked.at AS looked_at, last.build_id AS last_build_id, last.at AS last_build_at, last.until - last.at AS gap,
    (SELECT max(gap) FROM recent, known AS all_days WHERE recent.gap_days <= all_days.days) AS longest_gap,
    known.days, since.usual, since.fewest, since.most, coalesce(daily.builds, 0) AS builds_24h,
    daily.usual AS usual_24h, daily.fewest AS fewest_24h,
    -- A build that is older than looks which did not show it, or younger than its own first sight, has a wrong date.
    last.first_seen_at > last.at + interval '15 minutes' AND EXISTS (
      SELECT FROM sync.walks
      WHERE resource = 'build' AND is_good AND run_id > (SELECT max(id) - 5000 FROM sync.runs)
        AND started_at > last.at + interval '15 minutes' AND finished_at < last.first_seen_at
    ) OR coalesce((
      SELECT true FROM rollup.builds AS ahead
      WHERE ahead.triggered_on >= (looked.at AT TIME ZONE 'UTC')::date AND ahead.triggered_at > looked.at
        AND ahead.triggered_at > ahead.first_seen_at + interval '5 minutes'
      ORDER BY ahead.triggered_on DESC NULLS LAST, ahead.triggered_at DESC NULLS LAST LIMIT 1
    ), false) AS is_dated_wrong
  FROM (VALUES (1)) AS one
  LEFT JOIN looked ON true
  LEFT JOIN last ON true
  LEFT JOIN known ON true
  LEFT JOIN since ON true
  LEFT JOIN daily ON true
), named AS (
  SELECT judged.*, CASE
    WHEN looked_at IS NULL THEN 'not_read'
    WHEN last_build_at IS NULL THEN 'no_builds'
    WHEN is_dated_wrong THEN 'clock'
    WHEN days < 14 AND gap <= interval '28 days' THEN 'too_few_days'
  END AS reason
  FROM judged
), stated AS (
  SELECT named.*, CASE
    WHEN reason IS NOT NULL THEN 'unknown'
    WHEN gap > interval '28 days' THEN 'dormant'
    WHEN usual >= 10 AND gap > 2 * longest_gap THEN 'quiet'
    WHEN usual >= 10 AND gap > longest_gap THEN 'late'
    WHEN usual_24h >= 10 AND builds_24h < fewest_24h THEN 'few'
    ELSE 'usual'
  END AS state
  FROM named
)
SELECT looked_at, state, reason, last_build_id, last_build_at, extract(epoch FROM gap)::float8 AS gap_s,
  extract(epoch FROM longest_gap)::float8 AS longest_gap_s, coalesce(days, 0) AS days_known, usual AS usual_since, fewest AS fewest_since,
  most AS most_since, builds_24h, usual_24h, fewest_24h,
  CASE WHEN looked_at BETWEEN now() - interval '5 minutes' AND now() + interval '5 minutes' THEN state ELSE 'unknown' END AS state_now
FROM stated;

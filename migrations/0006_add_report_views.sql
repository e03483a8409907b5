-- Schema report: what users and tools read. What each view and column means stands in src/db/report-dictionary.ts, from which the comments
-- come after every migration. Columns are only ever added, at the end.
CREATE VIEW "report"."fact_builds" AS
SELECT build.build_id, build.project_id, project.project_slug, project.project_name, build.version_id, version.version_slug,
  version.version_name, build.type, build.state, build.outcome, build.succeeded, build.failed, build.triggered_at, build.triggered_on,
  calendar.week AS triggered_week, calendar.iso_week AS triggered_iso_week, calendar.month AS triggered_month, build.is_time_ambiguous,
  build.finished_after, build.finished_before, build.duration_s_min, build.duration_s_max,
  CASE WHEN build.duration_s_max - build.duration_s_min <= greatest(60, build.duration_s_max / 4)
    THEN (build.duration_s_min + build.duration_s_max) / 2 END AS duration_s,
  build.error_class, build.error_fingerprint, build.output_excerpt, build.first_seen_at, build.deleted_at, build.updated_at
FROM rollup.builds AS build
LEFT JOIN report.dim_projects AS project ON project.project_id = build.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = build.version_id
LEFT JOIN report.dim_dates AS calendar ON calendar.day = build.triggered_on;
--> statement-breakpoint
CREATE VIEW "report"."success_rate_daily" AS
SELECT calendar.day, known.builds, known.finished, known.succeeded, known.failed,
  day.succeeded::float8 / nullif(day.finished, 0) AS success_rate,
  report.wilson_low(day.succeeded, day.finished) AS success_rate_low,
  report.wilson_high(day.succeeded, day.finished) AS success_rate_high,
  day.success_rate_project_mean, known.projects, known.builds - known.finished AS unfinished,
  span.is_over AND coalesce(day.unsettled, 0) = 0 AS is_complete,
  span.is_covered
FROM report.dim_dates AS calendar
CROSS JOIN rollup.state
LEFT JOIN rollup.days AS day ON day.day = calendar.day
CROSS JOIN LATERAL (
  SELECT coalesce(calendar.day::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
    coalesce((calendar.day + 1)::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_over
) AS span
-- Nothing is known of what no sync has covered; of what one has, that there is nothing.
CROSS JOIN LATERAL (
  SELECT coalesce(day.builds, none) AS builds, coalesce(day.finished, none) AS finished, coalesce(day.succeeded, none) AS succeeded,
    coalesce(day.failed, none) AS failed, coalesce(day.projects, none) AS projects
  FROM (SELECT CASE WHEN span.is_covered THEN 0 END AS none) AS absent
) AS known
WHERE calendar.day <= (now() AT TIME ZONE 'UTC')::date OR day.day IS NOT NULL;
--> statement-breakpoint
CREATE VIEW "report"."success_rate_weekly" AS
SELECT calendar.week, calendar.iso_week, known.builds, known.finished, known.succeeded, known.failed,
  week.succeeded::float8 / nullif(week.finished, 0) AS success_rate,
  report.wilson_low(week.succeeded, week.finished) AS success_rate_low,
  report.wilson_high(week.succeeded, week.finished) AS success_rate_high,
  week.success_rate_project_mean, known.projects, known.builds - known.finished AS unfinished,
  span.is_over AND coalesce(week.unsettled, 0) = 0 AS is_complete,
  span.is_covered
FROM (SELECT DISTINCT week, iso_week FROM report.dim_dates) AS calendar
CROSS JOIN rollup.state
LEFT JOIN rollup.weeks AS week ON week.week = calendar.week
CROSS JOIN LATERAL (
  SELECT coalesce(calendar.week::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
    coalesce((calendar.week + 7)::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_over
) AS span
CROSS JOIN LATERAL (
  SELECT coalesce(week.builds, none) AS builds, coalesce(week.finished, none) AS finished, coalesce(week.succeeded, none) AS succeeded,
    coalesce(week.failed, none) AS failed, coalesce(week.projects, none) AS projects
  FROM (SELECT CASE WHEN span.is_covered THEN 0 END AS none) AS absent
) AS known
WHERE calendar.week <= (now() AT TIME ZONE 'UTC')::date OR week.week IS NOT NULL;
--> statement-breakpoint
CREATE VIEW "report"."success_rate_daily_by_project" AS
SELECT calendar.day, active.project_id, project.project_slug, known.builds, known.finished, known.succeeded, known.failed,
  day.succeeded::float8 / nullif(day.finished, 0) AS success_rate,
  report.wilson_low(day.succeeded, day.finished) AS success_rate_low,
  report.wilson_high(day.succeeded, day.finished) AS success_rate_high,
  known.builds - known.finished AS unfinished,
  span.is_over AND coalesce(day.unsettled, 0) = 0 AS is_complete,
  span.is_covered
FROM report.dim_dates AS calendar
CROSS JOIN rollup.state
JOIN (
  SELECT project_id, (min(first_triggered_at) AT TIME ZONE 'UTC')::date AS first_day,
    greatest((max(last_triggered_at) AT TIME ZONE 'UTC')::date, (now() AT TIME ZONE 'UTC')::date) AS last_day
  FROM rollup.series GROUP BY project_id
) AS active ON calendar.day BETWEEN active.first_day AND active.last_day
LEFT JOIN report.dim_projects AS project ON project.project_id = active.project_id
LEFT JOIN rollup.project_days AS day ON day.project_id = active.project_id AND day.day = calendar.day
CROSS JOIN LATERAL (
  SELECT coalesce(calendar.day::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
    coalesce((calendar.day + 1)::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_over
) AS span
CROSS JOIN LATERAL (
  SELECT coalesce(day.builds, none) AS builds, coalesce(day.finished, none) AS finished, coalesce(day.succeeded, none) AS succeeded,
    coalesce(day.failed, none) AS failed
  FROM (SELECT CASE WHEN span.is_covered THEN 0 END AS none) AS absent
) AS known
WHERE calendar.day <= (now() AT TIME ZONE 'UTC')::date OR day.day IS NOT NULL;
--> statement-breakpoint
CREATE VIEW "report"."success_rate_by_project" AS
SELECT project_id, project.project_slug, total.builds, total.finished, total.succeeded, total.failed,
  total.succeeded::float8 / nullif(total.finished, 0) AS success_rate,
  report.wilson_low(total.succeeded, total.finished) AS success_rate_low,
  report.wilson_high(total.succeeded, total.finished) AS success_rate_high,
  total.builds - total.finished AS unfinished, total.versions, total.first_triggered_at, total.last_triggered_at
FROM (
  SELECT project_id, sum(builds) AS builds, sum(finished) AS finished, sum(succeeded) AS succeeded, sum(failed) AS failed,
    count(DISTINCT version_id) FILTER (WHERE version_id <> '-1') AS versions, min(first_triggered_at) AS first_triggered_at,
    max(last_triggered_at) AS last_triggered_at
  FROM rollup.series GROUP BY project_id
) AS total
LEFT JOIN report.dim_projects AS project USING (project_id);
--> statement-breakpoint
CREATE VIEW "report"."success_rate_by_version" AS
SELECT total.project_id, project.project_slug, total.version_id, version.version_slug, total.builds, total.finished, total.succeeded,
  total.failed,
  total.succeeded::float8 / nullif(total.finished, 0) AS success_rate,
  report.wilson_low(total.succeeded, total.finished) AS success_rate_low,
  report.wilson_high(total.succeeded, total.finished) AS success_rate_high,
  total.builds - total.finished AS unfinished, total.first_triggered_at, total.last_triggered_at
FROM (
  SELECT project_id, version_id, sum(builds) AS builds, sum(finished) AS finished, sum(succeeded) AS succeeded, sum(failed) AS failed,
    min(first_triggered_at) AS first_triggered_at, max(last_triggered_at) AS last_triggered_at
  FROM rollup.series GROUP BY project_id, version_id
) AS total
LEFT JOIN report.dim_projects AS project ON project.project_id = total.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = total.version_id;
--> statement-breakpoint
CREATE VIEW "report"."success_rate_by_type" AS
SELECT type, sum(builds)::bigint AS builds, sum(finished)::bigint AS finished, sum(succeeded)::bigint AS succeeded,
  sum(failed)::bigint AS failed,
  sum(succeeded)::float8 / nullif(sum(finished), 0)::float8 AS success_rate,
  report.wilson_low(sum(succeeded)::bigint, sum(finished)::bigint) AS success_rate_low,
  report.wilson_high(sum(succeeded)::bigint, sum(finished)::bigint) AS success_rate_high,
  avg(succeeded::float8 / nullif(finished, 0)::float8) FILTER (WHERE project_id <> '-1') AS success_rate_project_mean,
  count(*) FILTER (WHERE project_id <> '-1') AS projects,
  (sum(builds) - sum(finished))::bigint AS unfinished
FROM (
  SELECT type, project_id, sum(builds) AS builds, sum(finished) AS finished, sum(succeeded) AS succeeded, sum(failed) AS failed
  FROM rollup.series GROUP BY type, project_id
) AS project
GROUP BY type;
--> statement-breakpoint
CREATE VIEW "report"."build_times_daily" AS
SELECT rate.day, coalesce(day.measured, CASE WHEN rate.is_covered THEN 0 END) AS finished, day.p50_s_min, day.p50_s_max, day.p90_s_min, day.p90_s_max, day.p95_s_min, day.p95_s_max,
  rate.is_complete, rate.is_covered
FROM report.success_rate_daily AS rate
LEFT JOIN rollup.days AS day ON day.day = rate.day;
--> statement-breakpoint
CREATE VIEW "report"."failing_now" AS
SELECT streak.project_id, project.project_slug, streak.version_id, version.version_slug, streak.type, streak.failures,
  streak.failed_at AS failing_since, streak.first_failed_build_id, last.triggered_at AS last_failed_at, streak.last_failed_build_id,
  streak.last_succeeded_at, streak.last_succeeded_build_id, last.error_class, last.error_fingerprint, last.output_excerpt
FROM rollup.streaks AS streak
JOIN rollup.builds AS last ON last.build_id = streak.last_failed_build_id
LEFT JOIN report.dim_projects AS project ON project.project_id = streak.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = streak.version_id
WHERE streak.recovered_build_id IS NULL AND project.is_deleted IS NOT TRUE AND version.is_deleted IS NOT TRUE;
--> statement-breakpoint
CREATE VIEW "report"."recoveries" AS
SELECT streak.project_id, project.project_slug, streak.version_id, version.version_slug, streak.type, streak.failures,
  streak.first_failed_build_id, streak.failed_at, streak.failed_after, streak.failed_before, streak.recovered_build_id,
  streak.recovered_at, streak.recovered_after, streak.recovered_before,
  greatest(0, coalesce(extract(epoch FROM CASE WHEN streak.recovered_build_id IS NULL THEN state.covered_through ELSE streak.recovered_after END
    - streak.failed_before), 0))::float8 AS recovery_s_min,
  CASE WHEN streak.failed_after IS NOT NULL AND streak.recovered_before IS NOT NULL THEN greatest(0, extract(epoch FROM streak.recovered_before - streak.failed_after)) END::float8
    AS recovery_s_max,
  streak.recovered_build_id IS NULL AS is_open,
  streak.recovered_build_id IS NOT NULL AND coalesce(streak.recovered_after < streak.failed_before, true) AS is_overlapped,
  streak.error_class
FROM rollup.streaks AS streak
CROSS JOIN rollup.state
LEFT JOIN report.dim_projects AS project ON project.project_id = streak.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = streak.version_id;
--> statement-breakpoint
CREATE VIEW "report"."instability" AS
SELECT series.project_id, project.project_slug, series.version_id, version.version_slug, series.type, series.recent_finished AS finished,
  series.recent_succeeded AS succeeded, series.recent_finished - series.recent_succeeded AS failed, series.recent_flips AS flips,
  series.recent_flips::float8 / (series.recent_finished - 1) AS flip_rate,
  2 * share.succeeded * (1 - share.succeeded) AS flip_rate_by_chance
FROM rollup.series AS series
CROSS JOIN LATERAL (SELECT series.recent_succeeded::float8 / series.recent_finished AS succeeded) AS share
LEFT JOIN report.dim_projects AS project ON project.project_id = series.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = series.version_id
WHERE series.recent_finished >= 2;
--> statement-breakpoint
CREATE VIEW "report"."open_builds" AS
SELECT build.build_id, build.project_id, project.project_slug, build.version_id, version.version_slug, build.type, build.state,
  build.outcome, build.triggered_at, build.last_seen_at,
  extract(epoch FROM build.last_seen_at - least(build.triggered_at, build.first_seen_at))::float8 AS age_s
FROM rollup.builds AS build
LEFT JOIN report.dim_projects AS project ON project.project_id = build.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = build.version_id
WHERE build.last_seen_at IS NOT NULL;
--> statement-breakpoint
CREATE VIEW "report"."stuck_builds" AS
SELECT * FROM report.open_builds WHERE outcome = 'stuck';
--> statement-breakpoint
CREATE VIEW "report"."incident_hours" AS
SELECT hour, projects, projects_failing, projects_expected, probability, builds, failed
FROM rollup.hours WHERE probability <= 0.00001;
--> statement-breakpoint
CREATE VIEW "report"."error_classes" AS
SELECT row_number() OVER (ORDER BY error.projects DESC, error.failures DESC, error.error_fingerprint, error.error_class) AS rank,
  error.error_class, error.error_fingerprint, last.output_excerpt AS example, error.failures,
  error.failures / sum(error.failures) OVER ()::float8 AS failure_share, error.projects,
  error.projects / nullif((SELECT count(*) FROM (SELECT FROM rollup.series WHERE failed > 0 AND project_id <> '-1' GROUP BY project_id) AS hit), 0)::float8
    AS project_share,
  error.first_triggered_at, error.last_triggered_at, error.last_build_id
FROM rollup.errors AS error
LEFT JOIN rollup.builds AS last ON last.build_id = error.last_build_id;
--> statement-breakpoint
CREATE VIEW "report"."project_activity" AS
SELECT week.project_id, project.project_slug, week.week, to_char(week.week, 'IYYY"-W"IW') AS iso_week, week.builds, week.finished,
  week.succeeded, week.failed,
  week.succeeded::float8 / nullif(week.finished, 0) AS success_rate,
  report.wilson_low(week.succeeded, week.finished) AS success_rate_low,
  report.wilson_high(week.succeeded, week.finished) AS success_rate_high,
  week.active_days, week.failure_days
FROM rollup.project_weeks AS week
LEFT JOIN report.dim_projects AS project ON project.project_id = week.project_id;
--> statement-breakpoint
CREATE VIEW "report"."freshness" AS
SELECT of.resource, good.finished_at AS last_good_at, good.started_at AS current_through,
  extract(epoch FROM now() - good.started_at)::float8 AS lag_s, good.walk AS last_walk, whole.finished_at AS last_whole_at,
  attempt.started_at AS last_attempt_at, coalesce(ended.walk IN ('whole', 'head'), false) AS is_whole, counted.records,
  counted.deleted_records,
  (SELECT count(*) FROM sync.quarantine WHERE quarantine.resource = of.resource AND resolved_at IS NULL) AS quarantined,
  (SELECT refreshed_at FROM rollup.state) AS refreshed_at
FROM (VALUES ('user'), ('project'), ('version'), ('build'), ('file')) AS of (resource)
LEFT JOIN rollup.resources AS counted ON counted.resource = of.resource
LEFT JOIN LATERAL (
  SELECT walk, started_at, finished_at FROM sync.walks
  WHERE walks.resource = of.resource AND walk IN ('whole', 'head') ORDER BY run_id DESC LIMIT 1
) AS good ON true
LEFT JOIN LATERAL (
  SELECT finished_at FROM sync.walks WHERE walks.resource = of.resource AND walk = 'whole' ORDER BY started_at DESC LIMIT 1
) AS whole ON true
LEFT JOIN LATERAL (
  SELECT started_at FROM sync.walks WHERE walks.resource = of.resource ORDER BY run_id DESC LIMIT 1
) AS attempt ON true
LEFT JOIN LATERAL (
  SELECT walk FROM sync.walks WHERE walks.resource = of.resource AND walk IS NOT NULL ORDER BY run_id DESC LIMIT 1
) AS ended ON true;
--> statement-breakpoint
CREATE VIEW "report"."runs" AS
SELECT run.id AS run_id, run.kind, run.status, run.started_at, run.finished_at,
  extract(epoch FROM run.finished_at - run.started_at)::float8 AS duration_s, run.requests, run.bytes,
  coalesce(walked.pages, 0) AS pages, coalesce(walked.records, 0)::bigint AS records, coalesce(walked.inserted, 0)::bigint AS inserted,
  coalesce(walked.updated, 0)::bigint AS updated, coalesce(walked.deleted, 0)::bigint AS deleted,
  coalesce(walked.restored, 0)::bigint AS restored, coalesce(walked.quarantined, 0)::bigint AS quarantined, run.transitions,
  cardinality(run.warnings) AS warnings, run.error
FROM sync.runs AS run
LEFT JOIN LATERAL (
  SELECT sum(pages) AS pages, sum(records) AS records, sum(inserted) AS inserted, sum(updated) AS updated, sum(deleted) AS deleted,
    sum(restored) AS restored, sum(quarantined) AS quarantined
  FROM sync.walks WHERE walks.run_id = run.id
) AS walked ON true;
--> statement-breakpoint
CREATE VIEW "report"."data_dictionary" AS
SELECT relation.relname::text AS relation, obj_description(relation.oid, 'pg_class') AS relation_comment, attribute.attnum::int AS position,
  attribute.attname::text AS column_name, format_type(attribute.atttypid, attribute.atttypmod) AS data_type,
  col_description(relation.oid, attribute.attnum) AS description
FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = relation.oid
WHERE relation.relnamespace = 'report'::regnamespace AND relation.relkind IN ('r', 'v', 'm')
  AND attribute.attnum > 0 AND NOT attribute.attisdropped;
--> statement-breakpoint
-- Names and logins of people are kept apart from all that is about builds.
CREATE SCHEMA "report_people";
--> statement-breakpoint
CREATE VIEW "report_people"."users" AS
SELECT person.id AS user_id, username, first_name, last_name, last_login AT TIME ZONE state.source_timezone AS last_login_at,
  deleted_at IS NOT NULL AS is_deleted, first_seen_at, deleted_at
FROM mirror.users AS person LEFT JOIN rollup.state ON true;
--> statement-breakpoint
COMMENT ON VIEW "report_people"."users" IS 'Who has an account? One row a user of the service: personal data, granted by `docmirror grant-reader ROLE --with-people` alone.';
--> statement-breakpoint
COMMENT ON COLUMN "report_people"."users"."last_login_at" IS 'Read in the source zone; null where it is not known.';
--> statement-breakpoint
CREATE VIEW "report_people"."project_users" AS
SELECT project_id, user_id, position FROM mirror.project_users WHERE user_id IS NOT NULL;
--> statement-breakpoint
COMMENT ON VIEW "report_people"."project_users" IS 'Who administrates which project? One row a project and user.';
--> statement-breakpoint
COMMENT ON COLUMN "report_people"."project_users"."position" IS 'The place in the project''s own list, from 0.';

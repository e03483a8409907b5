CREATE TABLE "sync"."lists" (
	"resource" text PRIMARY KEY NOT NULL,
	"live" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync"."service" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"base_url" text NOT NULL,
	"resources" text[] NOT NULL,
	"noted_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "service_is_one" CHECK ("sync"."service"."id")
);
--> statement-breakpoint
DROP INDEX "mirror"."builds_open";--> statement-breakpoint
DROP INDEX "sync"."walks_whole";--> statement-breakpoint
ALTER TABLE "mirror"."builds" ADD COLUMN "first_seen_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "mirror"."builds" ADD COLUMN "changed_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "mirror"."unresolved_references" ADD COLUMN "asked_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "mirror"."files" ADD COLUMN "first_seen_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "mirror"."files" ADD COLUMN "changed_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "mirror"."projects" ADD COLUMN "first_seen_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "mirror"."projects" ADD COLUMN "changed_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sync"."missing_records" ADD COLUMN "found_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "sync"."pages" ADD COLUMN "run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sync"."pages" ADD COLUMN "normalizer_version" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sync"."runs" ADD COLUMN "unfinished" jsonb;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "began_run_id" bigint;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "unstored" bigint;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "deficit" bigint;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "is_good" boolean GENERATED ALWAYS AS (walk = 'whole' or walk = 'head' and coalesce(deficit, 0) = coalesce(unstored, 0)) STORED;--> statement-breakpoint
ALTER TABLE "mirror"."users" ADD COLUMN "first_seen_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "mirror"."users" ADD COLUMN "changed_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "mirror"."versions" ADD COLUMN "first_seen_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "mirror"."versions" ADD COLUMN "changed_run_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "builds_unfinished" ON "mirror"."builds" USING btree ("id") WHERE state <> 'finished' and deleted_at is null;--> statement-breakpoint
CREATE INDEX "walks_whole_run" ON "sync"."walks" USING btree ("resource","run_id") WHERE walk = 'whole';--> statement-breakpoint
CREATE INDEX "walks_good" ON "sync"."walks" USING btree ("resource","run_id") WHERE is_good;--> statement-breakpoint
COMMENT ON TABLE "sync"."service" IS 'The one service that this database mirrors.';--> statement-breakpoint
-- The newest walk is the one of the newest run, whatever the clocks said. A moment more than five minutes ahead of now was written
-- by a clock that is wrong: how old it is, is not known.
CREATE OR REPLACE VIEW "report"."freshness" AS
SELECT of.resource, good.finished_at AS last_good_at, good.started_at AS current_through,
  CASE WHEN good.started_at <= now() + interval '5 minutes' THEN greatest(0, extract(epoch FROM now() - good.started_at))::float8 END AS lag_s,
  good.walk AS last_walk, whole.finished_at AS last_whole_at,
  attempt.started_at AS last_attempt_at, coalesce(ended.is_good, false) AS is_whole, counted.records,
  counted.deleted_records,
  (SELECT count(*) FROM sync.quarantine WHERE quarantine.resource = of.resource AND resolved_at IS NULL) AS quarantined,
  (SELECT refreshed_at FROM rollup.state) AS refreshed_at,
  ended.deficit,
  CASE WHEN count(good.finished_at) OVER () = 5 THEN min(good.finished_at) OVER () END AS mirror_last_good_at,
  CASE WHEN count(good.started_at) OVER () = 5 THEN min(good.started_at) OVER () END AS mirror_current_through
FROM (VALUES ('user'), ('project'), ('version'), ('build'), ('file')) AS of (resource)
LEFT JOIN rollup.resources AS counted ON counted.resource = of.resource
LEFT JOIN LATERAL (
  SELECT walk, started_at, finished_at FROM sync.walks
  WHERE walks.resource = of.resource AND is_good ORDER BY run_id DESC LIMIT 1
) AS good ON true
LEFT JOIN LATERAL (
  SELECT finished_at FROM sync.walks WHERE walks.resource = of.resource AND walk = 'whole' ORDER BY run_id DESC LIMIT 1
) AS whole ON true
LEFT JOIN LATERAL (
  SELECT started_at FROM sync.walks WHERE walks.resource = of.resource ORDER BY run_id DESC LIMIT 1
) AS attempt ON true
LEFT JOIN LATERAL (
  SELECT walks.is_good, walks.deficit - coalesce(walks.unstored, 0) AS deficit FROM sync.walks
  WHERE walks.resource = of.resource AND walk IS NOT NULL ORDER BY run_id DESC LIMIT 1
) AS ended ON true;
--> statement-breakpoint
CREATE OR REPLACE VIEW "report"."runs" AS
SELECT run.id AS run_id, run.kind, run.status, run.started_at, run.finished_at,
  extract(epoch FROM run.finished_at - run.started_at)::float8 AS duration_s, run.requests, run.bytes,
  coalesce(walked.pages, 0) AS pages, coalesce(walked.records, 0)::bigint AS records, coalesce(walked.inserted, 0)::bigint AS inserted,
  coalesce(walked.updated, 0)::bigint AS updated, coalesce(walked.deleted, 0)::bigint AS deleted,
  coalesce(walked.restored, 0)::bigint AS restored, coalesce(walked.quarantined, 0)::bigint AS quarantined, run.transitions,
  cardinality(run.warnings) AS warnings, run.error,
  (run.unfinished ->> 'deletions')::bigint + (run.unfinished ->> 'references')::bigint + (run.unfinished ->> 'open_builds')::bigint AS unfinished
FROM sync.runs AS run
LEFT JOIN LATERAL (
  SELECT sum(pages) AS pages, sum(records) AS records, sum(inserted) AS inserted, sum(updated) AS updated, sum(deleted) AS deleted,
    sum(restored) AS restored, sum(quarantined) AS quarantined
  FROM sync.walks WHERE walks.run_id = run.id
) AS walked ON true;
--> statement-breakpoint
-- A build without a state is not open: nothing says that it will ever finish.
CREATE OR REPLACE VIEW "rollup"."build_facts" AS
SELECT
  build.id AS build_id,
  coalesce(build.project_id, '-1') AS project_id,
  coalesce(build.version_id, '-1') AS version_id,
  left(coalesce(build.type, '(none)'), 100) AS type,
  build.state,
  told.outcome,
  CASE told.outcome WHEN 'succeeded' THEN 1 WHEN 'failed' THEN 0 END AS succeeded,
  CASE told.outcome WHEN 'failed' THEN 1 WHEN 'succeeded' THEN 0 END AS failed,
  told.outcome <> 'open'
    AND (told.outcome <> 'unknown_state' OR coalesce(build.state, 'finished') = 'finished' OR seen.age_s > state.stuck_after_s) AS is_settled,
  triggered.at AS triggered_at,
  (triggered.at AT TIME ZONE 'UTC')::date AS triggered_on,
  -- Where the clocks are the same a day before and a day after, the hour is like any other; else it is looked at.
  coalesce(((build.date - interval '1 day') AT TIME ZONE state.source_timezone) + interval '2 days'
    <> (build.date + interval '1 day') AT TIME ZONE state.source_timezone
    AND rollup.is_ambiguous(build.date, state.source_timezone), false) AS is_time_ambiguous,
  CASE WHEN isfinite(finish.not_before) THEN finish.not_before END AS finished_after,
  finish.not_after AS finished_before,
  -- The trigger lies between the bounds of the first transition. The date itself is no upper bound: the clock that dates builds may run behind.
  CASE WHEN isfinite(finish.not_before) THEN greatest(0, extract(epoch FROM finish.not_before - first.not_after))
    WHEN finish.not_after IS NOT NULL THEN 0
  END::float8 AS duration_s_min,
  CASE WHEN isfinite(first.not_before) THEN extract(epoch FROM finish.not_after - first.not_before) END::float8 AS duration_s_max,
  -- Of failed builds alone; '' where there is none.
  CASE WHEN told.outcome = 'failed' THEN coalesce(rollup.error_line(log.error, log.setup_error, log.output, log.setup), '') END AS error_line,
  build.first_seen_at,
  build.deleted_at,
  CASE WHEN build.state <> 'finished' AND told.outcome <> 'vanished' THEN seen.at END AS last_seen_at,
  build.record_hash
FROM mirror.builds AS build
CROSS JOIN rollup.state
LEFT JOIN sync.open_builds AS open ON open.build_id = build.id
LEFT JOIN mirror.build_transitions AS first ON first.build_id = build.id AND first.seq = 1
-- The last time that it was seen to finish. (Neither a LIMIT nor a query among the columns: several processes could not share the work.)
LEFT JOIN mirror.build_transitions AS finish ON build.state = 'finished' AND finish.build_id = build.id AND finish.to_state = 'finished'
  AND NOT EXISTS (
    SELECT FROM mirror.build_transitions AS later
    WHERE later.build_id = finish.build_id AND later.to_state = 'finished' AND later.seq > finish.seq
  )
LEFT JOIN mirror.build_logs AS log ON build.state = 'finished' AND NOT build.success AND log.build_id = build.id
CROSS JOIN LATERAL (SELECT build.date AT TIME ZONE state.source_timezone AS at) AS triggered
CROSS JOIN LATERAL (
  SELECT coalesce(open.seen_at, build.changed_at) AS at,
    extract(epoch FROM coalesce(open.seen_at, build.changed_at) - least(triggered.at, build.first_seen_at))::float8 AS age_s
) AS seen
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN build.state = 'finished' THEN CASE build.success WHEN true THEN 'succeeded' WHEN false THEN 'failed' ELSE 'unknown_state' END
    WHEN build.deleted_at IS NOT NULL OR open.vanished_at IS NOT NULL THEN 'vanished'
    WHEN build.state IS NULL OR build.state NOT IN ('triggered', 'building') THEN 'unknown_state'
    WHEN seen.age_s > state.stuck_after_s THEN 'stuck'
    ELSE 'open'
  END AS outcome
) AS told;
--> statement-breakpoint
DELETE FROM "sync"."open_builds" USING "mirror"."builds" AS build WHERE build.id = build_id AND build.state IS NULL;

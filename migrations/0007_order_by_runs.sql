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

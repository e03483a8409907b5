-- Records that changed since the last refresh of the reports. Append-only and without a key: writers never wait
-- for each other or for a refresh, and nothing is lost by a row that exists already.
CREATE TABLE "sync"."touched_records" (
	"resource" text NOT NULL,
	"record_id" text COLLATE "C"
);
--> statement-breakpoint
COMMENT ON TABLE "sync"."touched_records" IS 'Projects, versions and builds that changed since the last refresh of the reports. Triggers write it in the transaction of the change.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."touched_records"."resource" IS 'project, version or build.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."touched_records"."record_id" IS 'Null: any record of the resource may have changed.';--> statement-breakpoint
-- Ids are of no use before the first refresh, which reads everything, and in a large table, which no refresh
-- empties. One row without an id says there that something changed.
CREATE FUNCTION "sync"."takes_touched_ids"() RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT EXISTS (SELECT FROM rollup.state) AND pg_relation_size('sync.touched_records') < 67108864
$$;
--> statement-breakpoint
CREATE FUNCTION "sync"."note_touched"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM changed) THEN
    RETURN NULL;
  END IF;
  IF sync.takes_touched_ids() THEN
    INSERT INTO sync.touched_records (resource, record_id) SELECT tg_argv[0], id FROM changed;
  ELSE
    INSERT INTO sync.touched_records (resource) VALUES (tg_argv[0]);
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- The same for tables whose rows belong to a build.
CREATE FUNCTION "sync"."note_touched_build"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM changed) THEN
    RETURN NULL;
  END IF;
  IF sync.takes_touched_ids() THEN
    INSERT INTO sync.touched_records (resource, record_id) SELECT DISTINCT 'build', build_id FROM changed;
  ELSE
    INSERT INTO sync.touched_records (resource) VALUES ('build');
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "touch_insert" AFTER INSERT ON "mirror"."projects" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('project');--> statement-breakpoint
CREATE TRIGGER "touch_update" AFTER UPDATE ON "mirror"."projects" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('project');--> statement-breakpoint
CREATE TRIGGER "touch_delete" AFTER DELETE ON "mirror"."projects" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('project');--> statement-breakpoint
CREATE TRIGGER "touch_insert" AFTER INSERT ON "mirror"."versions" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('version');--> statement-breakpoint
CREATE TRIGGER "touch_update" AFTER UPDATE ON "mirror"."versions" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('version');--> statement-breakpoint
CREATE TRIGGER "touch_delete" AFTER DELETE ON "mirror"."versions" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('version');--> statement-breakpoint
-- The texts of a build are written with its row, so they need no trigger, which would copy megabytes.
CREATE TRIGGER "touch_insert" AFTER INSERT ON "mirror"."builds" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('build');--> statement-breakpoint
CREATE TRIGGER "touch_update" AFTER UPDATE ON "mirror"."builds" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('build');--> statement-breakpoint
CREATE TRIGGER "touch_delete" AFTER DELETE ON "mirror"."builds" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('build');--> statement-breakpoint
CREATE TRIGGER "touch_insert" AFTER INSERT ON "mirror"."build_transitions" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();--> statement-breakpoint
CREATE TRIGGER "touch_update" AFTER UPDATE ON "mirror"."build_transitions" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();--> statement-breakpoint
CREATE TRIGGER "touch_delete" AFTER DELETE ON "mirror"."build_transitions" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();--> statement-breakpoint
CREATE TRIGGER "touch_insert" AFTER INSERT ON "sync"."open_builds" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();--> statement-breakpoint
CREATE TRIGGER "touch_update" AFTER UPDATE ON "sync"."open_builds" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();--> statement-breakpoint
CREATE TRIGGER "touch_delete" AFTER DELETE ON "sync"."open_builds" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();--> statement-breakpoint
ALTER TABLE "rollup"."state" ADD COLUMN "dear_revision" bigint DEFAULT -1 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."state" ADD COLUMN "checked_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "rollup"."state" ADD COLUMN "facts_repaired" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE TABLE "rollup"."project_errors" (
	"error_fingerprint" text NOT NULL,
	"error_class" text NOT NULL,
	"project_id" text COLLATE "C" NOT NULL,
	"failures" integer NOT NULL,
	"first_triggered_at" timestamp(6) with time zone,
	"last_triggered_at" timestamp(6) with time zone,
	"last_build_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "project_errors_error_fingerprint_project_id_error_class_pk" PRIMARY KEY("error_fingerprint","project_id","error_class")
);
--> statement-breakpoint
INSERT INTO "rollup"."project_errors"
SELECT error_fingerprint, error_class, project_id, count(*), min(triggered_at), max(triggered_at),
  (array_agg(build_id ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC))[1]
FROM "rollup"."builds" WHERE failed = 1
GROUP BY error_fingerprint, error_class, project_id;
--> statement-breakpoint
CREATE OR REPLACE VIEW "report"."error_classes" AS
SELECT row_number() OVER (ORDER BY error.projects DESC, error.failures DESC, error.error_fingerprint, error.error_class) AS rank,
  error.error_class, error.error_fingerprint, last.output_excerpt AS example, error.failures,
  error.failures / sum(error.failures) OVER ()::float8 AS failure_share, error.projects,
  error.projects / nullif((SELECT count(*) FROM (SELECT FROM rollup.series WHERE failed > 0 AND project_id <> '-1' GROUP BY project_id) AS hit), 0)::float8
    AS project_share,
  error.first_triggered_at::timestamptz(6) AS first_triggered_at, error.last_triggered_at::timestamptz(6) AS last_triggered_at, error.last_build_id
FROM (
  SELECT error_class, error_fingerprint, sum(failures)::int AS failures, (count(*) FILTER (WHERE project_id <> '-1'))::int AS projects,
    min(first_triggered_at) AS first_triggered_at, max(last_triggered_at) AS last_triggered_at,
    (array_agg(last_build_id ORDER BY last_triggered_at DESC NULLS LAST, length(last_build_id) DESC, last_build_id DESC))[1] AS last_build_id
  FROM rollup.project_errors GROUP BY error_class, error_fingerprint
) AS error
LEFT JOIN rollup.builds AS last ON last.build_id = error.last_build_id;
--> statement-breakpoint
DROP VIEW "rollup"."errors_source";--> statement-breakpoint
DELETE FROM "sync"."definitions" WHERE name = 'rollup.errors_source';--> statement-breakpoint
DROP TABLE "rollup"."errors";--> statement-breakpoint
DROP INDEX "rollup"."streaks_project";--> statement-breakpoint
CREATE INDEX "streaks_series" ON "rollup"."streaks" USING btree ("project_id","version_id","type","failed_at");--> statement-breakpoint
DROP INDEX "rollup"."builds_fingerprint";--> statement-breakpoint
CREATE INDEX "project_weeks_week" ON "rollup"."project_weeks" USING btree ("week");--> statement-breakpoint
CREATE INDEX "builds_series" ON "rollup"."builds" USING btree ("project_id","version_id","type","triggered_at" NULLS FIRST,length(build_id),"build_id") INCLUDE ("succeeded");--> statement-breakpoint
CREATE INDEX "builds_fingerprint" ON "rollup"."builds" USING btree ("error_fingerprint","project_id") WHERE failed = 1;--> statement-breakpoint
-- Nobody noted what changed before.
UPDATE "rollup"."state" SET "definition" = '';

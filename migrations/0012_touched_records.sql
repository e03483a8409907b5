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
-- Ids are of no use before there are answers, because the first refresh reads everything, and in a large table,
-- which no refresh empties. One row without an id says there that something changed.
CREATE FUNCTION "sync"."takes_touched_ids"() RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT EXISTS (SELECT FROM rollup.series) AND pg_relation_size('sync.touched_records') < 67108864
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
-- A row for each project: so a build that fails costs what its project has, and not what all have.
DELETE FROM "rollup"."errors";--> statement-breakpoint
ALTER TABLE "rollup"."errors" ADD COLUMN "project_id" text COLLATE "C" NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."errors" DROP CONSTRAINT "errors_error_fingerprint_error_class_pk";--> statement-breakpoint
ALTER TABLE "rollup"."errors" ADD CONSTRAINT "errors_error_fingerprint_project_id_error_class_pk" PRIMARY KEY("error_fingerprint","project_id","error_class");--> statement-breakpoint
INSERT INTO "rollup"."errors" ("error_class", "error_fingerprint", "project_id", "failures", "projects", "first_triggered_at", "last_triggered_at", "last_build_id")
SELECT error_class, error_fingerprint, project_id, count(*), (project_id <> '-1')::int, min(triggered_at), max(triggered_at),
  (array_agg(build_id ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC))[1]
FROM "rollup"."builds" WHERE failed = 1
GROUP BY error_class, error_fingerprint, project_id;--> statement-breakpoint
DROP INDEX "rollup"."streaks_project";--> statement-breakpoint
CREATE INDEX "streaks_series" ON "rollup"."streaks" USING btree ("project_id","version_id","type","failed_at");--> statement-breakpoint
DROP INDEX "rollup"."builds_fingerprint";--> statement-breakpoint
CREATE INDEX "project_weeks_week" ON "rollup"."project_weeks" USING btree ("week");--> statement-breakpoint
CREATE INDEX "builds_series" ON "rollup"."builds" USING btree ("project_id","version_id","type","triggered_at" NULLS FIRST,length(build_id),"build_id") INCLUDE ("succeeded");--> statement-breakpoint
CREATE INDEX "builds_fingerprint" ON "rollup"."builds" USING btree ("error_fingerprint","project_id") WHERE failed = 1;--> statement-breakpoint
-- Nobody noted what changed before.
UPDATE "rollup"."state" SET "definition" = '';

CREATE TABLE "rollup"."recovery_times" (
	"by_project" boolean NOT NULL,
	"by_type" boolean NOT NULL,
	"by_month" boolean NOT NULL,
	"project_id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"month" text NOT NULL,
	"streaks" integer NOT NULL,
	"recovered" integer NOT NULL,
	"median_hours" double precision,
	"p25_hours" double precision,
	"p75_hours" double precision,
	"closed_median_hours" double precision,
	CONSTRAINT "recovery_times_pk" PRIMARY KEY("by_project","by_type","by_month","project_id","type","month")
);
--> statement-breakpoint
CREATE TABLE "rollup"."backlog" (
	"hour" timestamp(6) with time zone PRIMARY KEY NOT NULL,
	"open_min" integer NOT NULL,
	"open_max" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollup"."project_week_times" (
	"project_id" text COLLATE "C" NOT NULL,
	"week" date NOT NULL,
	"measured" integer NOT NULL,
	"p50_s_min" double precision,
	"p50_s_max" double precision,
	"p90_s_min" double precision,
	"p90_s_max" double precision,
	"p95_s_min" double precision,
	"p95_s_max" double precision,
	CONSTRAINT "project_week_times_project_id_week_pk" PRIMARY KEY("project_id","week")
);
--> statement-breakpoint
CREATE TABLE "rollup"."type_week_times" (
	"type" text NOT NULL,
	"week" date NOT NULL,
	"measured" integer NOT NULL,
	"p50_s_min" double precision,
	"p50_s_max" double precision,
	"p90_s_min" double precision,
	"p90_s_max" double precision,
	"p95_s_min" double precision,
	"p95_s_max" double precision,
	CONSTRAINT "type_week_times_type_week_pk" PRIMARY KEY("type","week")
);
--> statement-breakpoint
ALTER TABLE "report"."error_rules" RENAME COLUMN "order" TO "position";--> statement-breakpoint
DROP INDEX "rollup"."builds_series";--> statement-breakpoint
DROP INDEX "rollup"."streaks_series";--> statement-breakpoint
ALTER TABLE "report"."dim_dates" ADD COLUMN "month_start" date DEFAULT '1970-01-01' NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."dim_dates" ADD COLUMN "month_of_year" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."dim_dates" ADD COLUMN "month_name" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."dim_dates" ADD COLUMN "quarter_start" date DEFAULT '1970-01-01' NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."dim_dates" ADD COLUMN "quarter_of_year" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."dim_dates" ADD COLUMN "day_name" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."dim_projects" ADD COLUMN "theme" text;--> statement-breakpoint
ALTER TABLE "report"."dim_projects" ADD COLUMN "programming_language" text;--> statement-breakpoint
ALTER TABLE "report"."dim_projects" ADD COLUMN "use_virtualenv" boolean;--> statement-breakpoint
ALTER TABLE "report"."dim_projects" ADD COLUMN "updated_at" timestamp(6) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."dim_projects" ADD COLUMN "renamed_at" timestamp(6) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."dim_versions" ADD COLUMN "kind" text;--> statement-breakpoint
ALTER TABLE "report"."dim_versions" ADD COLUMN "updated_at" timestamp(6) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."dim_versions" ADD COLUMN "renamed_at" timestamp(6) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "report"."error_rules" ADD COLUMN "is_platform" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."days" ADD COLUMN "stuck" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."project_days" ADD COLUMN "stuck" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."project_weeks" ADD COLUMN "stuck" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."builds" ADD COLUMN "reference" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."builds" ADD COLUMN "ahead_until" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "rollup"."builds" ADD COLUMN "queued_s_min" double precision;--> statement-breakpoint
ALTER TABLE "rollup"."builds" ADD COLUMN "queued_s_max" double precision;--> statement-breakpoint
ALTER TABLE "rollup"."builds" ADD COLUMN "building_s_min" double precision;--> statement-breakpoint
ALTER TABLE "rollup"."builds" ADD COLUMN "building_s_max" double precision;--> statement-breakpoint
ALTER TABLE "rollup"."series" ADD COLUMN "reference" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."series" DROP CONSTRAINT "series_project_id_version_id_type_pk";--> statement-breakpoint
ALTER TABLE "rollup"."series" ADD CONSTRAINT "series_project_id_version_id_type_reference_pk" PRIMARY KEY("project_id","version_id","type","reference");--> statement-breakpoint
ALTER TABLE "rollup"."streaks" ADD COLUMN "reference" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."state" ADD COLUMN "next_dated_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "rollup"."state" ADD COLUMN "builds_dated_ahead" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."weeks" ADD COLUMN "stuck" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "builds_failed_day" ON "rollup"."builds" USING btree ("triggered_on","error_class","error_fingerprint","project_id") WHERE failed = 1;--> statement-breakpoint
CREATE INDEX "builds_ahead" ON "rollup"."builds" USING btree ("ahead_until") WHERE ahead_until is not null;--> statement-breakpoint
CREATE INDEX "streaks_failed_at" ON "rollup"."streaks" USING btree ("failed_at");--> statement-breakpoint
CREATE INDEX "streaks_recovered_at" ON "rollup"."streaks" USING btree ("recovered_at");--> statement-breakpoint
CREATE INDEX "builds_series" ON "rollup"."builds" USING btree ("project_id","version_id","type","reference","triggered_at" NULLS FIRST,length(build_id),"build_id") INCLUDE ("succeeded");--> statement-breakpoint
CREATE INDEX "streaks_series" ON "rollup"."streaks" USING btree ("project_id","version_id","type","reference","failed_at");--> statement-breakpoint
UPDATE "report"."error_rules" SET "is_platform" = true WHERE "class" = 'infra';--> statement-breakpoint
-- The answers get new columns, so all of them are computed again.
UPDATE "rollup"."state" SET "definition" = '';--> statement-breakpoint
-- Their columns or their parameters change, so they cannot be replaced. The program creates them again.
DROP VIEW IF EXISTS "report"."error_classes";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."builds_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."all_builds_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."days_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."weeks_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."project_days_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."project_weeks_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."series_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."streaks_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."dim_dates_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."dim_projects_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."dim_versions_source";--> statement-breakpoint
DROP VIEW IF EXISTS "rollup"."build_facts";--> statement-breakpoint
DROP FUNCTION IF EXISTS "rollup"."plain_line"(text);--> statement-breakpoint
DROP FUNCTION IF EXISTS "rollup"."recent_builds"(text, text, text);--> statement-breakpoint
DROP FUNCTION IF EXISTS "rollup"."streaks_of"(text, text, text, timestamptz);--> statement-breakpoint
DELETE FROM "sync"."definitions" WHERE "name" = 'report.error_classes' OR "name" LIKE 'rollup.%';--> statement-breakpoint
-- A file such as docs/bloom.rst does not tell of memory, and an error line has the message of a warning with it now.
UPDATE "report"."error_rules" SET "pattern" = replace("pattern", '|oom', '|\moom\M') WHERE "position" = 40 AND "pattern" LIKE '%|oom';--> statement-breakpoint
INSERT INTO "report"."error_rules" ("position", "pattern", "class", "note")
SELECT 35, 'treated as error', 'docs_source', 'a warning in the documents, where warnings are errors'
WHERE EXISTS (SELECT FROM "report"."error_rules" WHERE "class" = 'docs_source') ON CONFLICT DO NOTHING;

CREATE TABLE "sync"."definitions" (
	"name" text PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"version" text NOT NULL,
	"defined_at" timestamp(6) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "rollup"."state" ALTER COLUMN "definition" SET DATA TYPE text;--> statement-breakpoint
COMMENT ON TABLE "sync"."definitions" IS 'The views and functions of the reports that this database has: the hash of each, and the docmirror that defined it.';--> statement-breakpoint
-- Whoever may use the schema must see, as before, whether it is current.
GRANT SELECT ON "sync"."definitions" TO PUBLIC;--> statement-breakpoint
-- What earlier migrations made. From here on src/report/sql defines it, and a name that is no longer there is dropped.
INSERT INTO "sync"."definitions" ("name", "hash", "version", "defined_at")
SELECT name, '', '', now() FROM unnest(ARRAY[
  'report.build_times_daily', 'report.data_dictionary', 'report.error_classes', 'report.fact_builds', 'report.failing_now',
  'report.freshness', 'report.incident_hours', 'report.instability', 'report.open_builds', 'report.project_activity',
  'report.recoveries', 'report.runs', 'report.stuck_builds', 'report.success_rate_by_project', 'report.success_rate_by_type',
  'report.success_rate_by_version', 'report.success_rate_daily', 'report.success_rate_daily_by_project', 'report.success_rate_weekly',
  'report.wilson_high', 'report.wilson_low', 'report_people.project_users', 'report_people.users', 'rollup.binomial_tail',
  'rollup.build_facts', 'rollup.builds_source', 'rollup.days_source', 'rollup.describe_error', 'rollup.dim_dates_source',
  'rollup.dim_projects_source', 'rollup.dim_versions_source', 'rollup.error_fingerprint', 'rollup.error_line', 'rollup.errors_source',
  'rollup.hours_source', 'rollup.is_ambiguous', 'rollup.plain_line', 'rollup.project_days_source', 'rollup.project_weeks_source',
  'rollup.resources_source', 'rollup.series_source', 'rollup.streaks_source', 'rollup.weeks_source'
]) AS name;

-- additive: a table that older programs do not read, and a foreign key that is checked when it was, unless a refresh asks otherwise
CREATE TABLE "rollup"."failed_refresh" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"failed_at" timestamp(6) with time zone NOT NULL,
	"error" text NOT NULL,
	CONSTRAINT "failed_refresh_is_one" CHECK ("rollup"."failed_refresh"."id")
);
--> statement-breakpoint
-- A refresh writes the projects before the versions, and both may lose rows: a project that goes and a version that goes with it, or
-- moves to another project. Only at the end of its transaction do they agree.
ALTER TABLE "report"."dim_versions" ALTER CONSTRAINT "dim_versions_project_id_dim_projects_project_id_fk" DEFERRABLE INITIALLY IMMEDIATE;
--> statement-breakpoint
COMMENT ON TABLE rollup.failed_refresh IS 'The refresh of the reports that failed last, until one goes well; one row at most.';
COMMENT ON COLUMN rollup.failed_refresh.id IS 'Always true.';
COMMENT ON COLUMN rollup.failed_refresh.failed_at IS 'When it failed.';
COMMENT ON COLUMN rollup.failed_refresh.error IS 'Why, as its error said.';

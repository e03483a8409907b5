-- not additive: the first migration, which makes the whole schema
-- The views and functions behind the reports are not here: `docmirror migrate` makes them from src/report after the last migration.


-- Part 1: the tables, as drizzle-kit writes them from the declarations. The other parts are what a declaration cannot say.

CREATE SCHEMA "mirror";
CREATE SCHEMA "report";
CREATE SCHEMA "rollup";
CREATE SCHEMA "sync";

CREATE TABLE "mirror"."build_transitions" (
	"build_id" text COLLATE "C" NOT NULL,
	"seq" integer NOT NULL,
	"from_state" text,
	"to_state" text,
	"not_before" timestamp(6) with time zone NOT NULL,
	"not_after" timestamp(6) with time zone NOT NULL,
	"anomaly" text,
	"run_id" bigint NOT NULL,
	"request" text,
	"asked_at" timestamp(6) with time zone,
	"rule" text,
	"previous_run_id" bigint,
	"previous_request" text,
	CONSTRAINT "build_transitions_build_id_seq_pk" PRIMARY KEY("build_id","seq")
);

CREATE TABLE "sync"."open_builds" (
	"build_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"since" timestamp(6) with time zone NOT NULL,
	"seen_at" timestamp(6) with time zone NOT NULL,
	"run_id" bigint NOT NULL,
	"request" text,
	"asked_at" timestamp(6) with time zone,
	"vanished_at" timestamp(6) with time zone
);

CREATE TABLE "mirror"."changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "mirror"."changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"resource" text NOT NULL,
	"record_id" text COLLATE "C" NOT NULL,
	"run_id" bigint NOT NULL,
	"observed_at" timestamp(6) with time zone NOT NULL,
	"kind" text NOT NULL,
	"before" jsonb,
	"after" jsonb
);

CREATE TABLE "mirror"."unresolved_references" (
	"resource" text NOT NULL,
	"record_id" text COLLATE "C" NOT NULL,
	"field" text NOT NULL,
	"position" integer NOT NULL,
	"uri" text NOT NULL,
	"status" text NOT NULL,
	"checked_at" timestamp(6) with time zone,
	"asked_at" timestamp(6) with time zone,
	"target_resource" text,
	"target_key" text,
	CONSTRAINT "unresolved_references_resource_record_id_field_position_pk" PRIMARY KEY("resource","record_id","field","position")
);

CREATE TABLE "mirror"."file_anchors" (
	"file_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"search" "tsvector" NOT NULL,
	CONSTRAINT "file_anchors_file_id_position_pk" PRIMARY KEY("file_id","position")
);

CREATE TABLE "mirror"."file_contents" (
	"file_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"project_id" text COLLATE "C",
	"version" text,
	"absolute_url" text,
	"docs_url" text NOT NULL,
	"url" text,
	"http_status" smallint,
	"reason" text,
	"title" text,
	"text" text,
	"anchors" jsonb,
	"etag" text,
	"last_modified" text,
	"fetched_at" timestamp(6) with time zone,
	"asked_at" timestamp(6) with time zone NOT NULL,
	"asked_run_id" bigint NOT NULL,
	"changed_run_id" bigint NOT NULL,
	"content_hash" "bytea",
	"title_key" text,
	"title_search" "tsvector",
	"search" "tsvector"
);

CREATE TABLE "sync"."leader" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"term" bigint NOT NULL,
	"instance" text NOT NULL,
	"pid" integer NOT NULL,
	"host" text NOT NULL,
	"backend_pid" integer NOT NULL,
	"since" timestamp(6) with time zone NOT NULL,
	"heartbeat_at" timestamp(6) with time zone NOT NULL,
	"resigned_at" timestamp(6) with time zone,
	CONSTRAINT "leader_one_row" CHECK ("sync"."leader"."id")
);

CREATE TABLE "sync"."muted_projects" (
	"project_slug" text PRIMARY KEY NOT NULL,
	"until" timestamp(6) with time zone NOT NULL,
	"muted_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "sync"."notice_marks" (
	"source" text PRIMARY KEY NOT NULL,
	"position" text NOT NULL,
	"marked_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "sync"."notices" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."notices_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"message_id" text DEFAULT 'msg_' || replace(gen_random_uuid()::text, '-', '') NOT NULL,
	"subject" text NOT NULL,
	"type" text NOT NULL,
	"data" jsonb NOT NULL,
	"noted_at" timestamp(6) with time zone DEFAULT now() NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamp(6) with time zone DEFAULT now() NOT NULL,
	"delivered_at" timestamp(6) with time zone,
	"given_up_at" timestamp(6) with time zone,
	"error" text,
	CONSTRAINT "notices_message_id_unique" UNIQUE("message_id"),
	CONSTRAINT "notices_subject_unique" UNIQUE("subject")
);

CREATE TABLE "sync"."places" (
	"run_id" bigint PRIMARY KEY NOT NULL,
	"place" jsonb NOT NULL,
	"noted_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "mirror"."archived_logs" (
	"build_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"file_id" bigint NOT NULL,
	"hash" "bytea" NOT NULL,
	"error_line" text,
	"removed_at" timestamp(6) with time zone NOT NULL
);

CREATE TABLE "mirror"."build_logs" (
	"build_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"output" text,
	"error" text,
	"setup" text,
	"setup_error" text
);

CREATE TABLE "mirror"."builds" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"resource_uri" text,
	"date" timestamp(6),
	"state" text,
	"success" boolean,
	"type" text,
	"project_uri" text,
	"version_uri" text,
	"project_id" text COLLATE "C",
	"version_id" text COLLATE "C",
	"extra" jsonb,
	"first_seen_at" timestamp(6) with time zone NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	"record_hash" "bytea" NOT NULL,
	"first_seen_run_id" bigint DEFAULT 0 NOT NULL,
	"changed_run_id" bigint DEFAULT 0 NOT NULL
);

CREATE TABLE "mirror"."files" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"resource_uri" text,
	"absolute_url" text,
	"name" text,
	"path" text,
	"project_id" text COLLATE "C",
	"extra" jsonb,
	"first_seen_at" timestamp(6) with time zone NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	"record_hash" "bytea" NOT NULL,
	"first_seen_run_id" bigint DEFAULT 0 NOT NULL,
	"changed_run_id" bigint DEFAULT 0 NOT NULL
);

CREATE TABLE "mirror"."log_files" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "mirror"."log_files_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"sha256" "bytea" NOT NULL,
	"folder" text NOT NULL,
	"path" text NOT NULL,
	CONSTRAINT "log_files_sha256_unique" UNIQUE("sha256")
);

CREATE TABLE "mirror"."project_users" (
	"project_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"user_uri" text,
	"user_id" text COLLATE "C",
	CONSTRAINT "project_users_project_id_position_pk" PRIMARY KEY("project_id","position")
);

CREATE TABLE "mirror"."projects" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"resource_uri" text,
	"absolute_url" text,
	"name" text,
	"slug" text,
	"description" text,
	"analytics_code" text,
	"copyright" text,
	"pkgindex_url" text,
	"pkgdirectory_url" text,
	"default_branch" text,
	"default_version" text,
	"documentation_type" text,
	"project_url" text,
	"repo" text,
	"repo_type" text,
	"requirements_file" text,
	"subdomain" text,
	"suffix" text,
	"theme" text,
	"use_virtualenv" boolean,
	"modified_date" timestamp(6),
	"pub_date" timestamp(6),
	"version" text,
	"source" text NOT NULL,
	"listed" boolean NOT NULL,
	"extra" jsonb,
	"first_seen_at" timestamp(6) with time zone NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	"record_hash" "bytea" NOT NULL,
	"first_seen_run_id" bigint DEFAULT 0 NOT NULL,
	"changed_run_id" bigint DEFAULT 0 NOT NULL
);

CREATE TABLE "mirror"."users" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"resource_uri" text,
	"username" text,
	"first_name" text,
	"last_name" text,
	"last_login" timestamp(6),
	"extra" jsonb,
	"first_seen_at" timestamp(6) with time zone NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	"record_hash" "bytea" NOT NULL,
	"first_seen_run_id" bigint DEFAULT 0 NOT NULL,
	"changed_run_id" bigint DEFAULT 0 NOT NULL
);

CREATE TABLE "mirror"."versions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"resource_uri" text,
	"slug" text,
	"verbose_name" text,
	"identifier" text,
	"active" boolean,
	"built" boolean,
	"uploaded" boolean,
	"project_id" text COLLATE "C",
	"extra" jsonb,
	"first_seen_at" timestamp(6) with time zone NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	"record_hash" "bytea" NOT NULL,
	"first_seen_run_id" bigint DEFAULT 0 NOT NULL,
	"changed_run_id" bigint DEFAULT 0 NOT NULL
);

CREATE TABLE "report"."dim_dates" (
	"day" date PRIMARY KEY NOT NULL,
	"week" date NOT NULL,
	"iso_week" text NOT NULL,
	"month" text NOT NULL,
	"quarter" text NOT NULL,
	"year" integer NOT NULL,
	"day_of_week" integer NOT NULL,
	"is_weekend" boolean NOT NULL,
	"month_start" date DEFAULT '1970-01-01' NOT NULL,
	"month_of_year" integer DEFAULT 1 NOT NULL,
	"month_name" text DEFAULT '' NOT NULL,
	"quarter_start" date DEFAULT '1970-01-01' NOT NULL,
	"quarter_of_year" integer DEFAULT 1 NOT NULL,
	"day_name" text DEFAULT '' NOT NULL
);

CREATE TABLE "report"."dim_projects" (
	"project_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"project_slug" text NOT NULL,
	"project_name" text NOT NULL,
	"repo" text,
	"repo_type" text,
	"documentation_type" text,
	"default_version" text,
	"default_branch" text,
	"published_on" date,
	"is_listed" boolean,
	"is_deleted" boolean NOT NULL,
	"first_seen_at" timestamp(6) with time zone,
	"deleted_at" timestamp(6) with time zone,
	"theme" text,
	"programming_language" text,
	"use_virtualenv" boolean,
	"updated_at" timestamp(6) with time zone DEFAULT now() NOT NULL,
	"renamed_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "report"."dim_versions" (
	"version_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"project_id" text COLLATE "C" NOT NULL,
	"version_slug" text NOT NULL,
	"version_name" text,
	"identifier" text,
	"is_active" boolean,
	"is_built" boolean,
	"is_uploaded" boolean,
	"is_deleted" boolean NOT NULL,
	"first_seen_at" timestamp(6) with time zone,
	"deleted_at" timestamp(6) with time zone,
	"kind" text,
	"is_main" boolean NOT NULL,
	"updated_at" timestamp(6) with time zone DEFAULT now() NOT NULL,
	"renamed_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "report"."error_rules" (
	"position" integer PRIMARY KEY NOT NULL,
	"pattern" text NOT NULL,
	"class" text NOT NULL,
	"note" text,
	"is_platform" boolean DEFAULT false NOT NULL,
	CONSTRAINT "pattern_is_a_regular_expression" CHECK (('' ~* "report"."error_rules"."pattern") is not null),
	CONSTRAINT "class_has_1_to_100_characters" CHECK (char_length("report"."error_rules"."class") between 1 and 100)
);

CREATE TABLE "rollup"."fact_months" (
	"month" text PRIMARY KEY NOT NULL,
	"revision" uuid NOT NULL
);

CREATE TABLE "rollup"."state" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"source_timezone" text NOT NULL,
	"stuck_after_s" double precision NOT NULL,
	"definition" text NOT NULL,
	"run_id" bigint NOT NULL,
	"covered_through" timestamp(6) with time zone,
	"refreshed_at" timestamp(6) with time zone NOT NULL,
	"dear_refreshed_at" timestamp(6) with time zone,
	"dear_took_s" double precision DEFAULT 0 NOT NULL,
	"dear_revision" bigint DEFAULT -1 NOT NULL,
	"next_dated_at" timestamp(6) with time zone,
	"builds_dated_ahead" integer DEFAULT 0 NOT NULL,
	"checked_at" timestamp(6) with time zone,
	"facts_repaired" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "state_has_one_row" CHECK ("rollup"."state"."id" = 1)
);

CREATE TABLE "sync"."definitions" (
	"name" text PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"version" text NOT NULL,
	"defined_at" timestamp(6) with time zone NOT NULL
);

CREATE TABLE "sync"."drift" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."drift_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" bigint NOT NULL,
	"resource" text NOT NULL,
	"field" text NOT NULL,
	"kind" text NOT NULL,
	"detail" text,
	"observed_at" timestamp(6) with time zone NOT NULL
);

CREATE TABLE "sync"."lists" (
	"resource" text PRIMARY KEY NOT NULL,
	"live" bigint NOT NULL
);

CREATE TABLE "sync"."missing_records" (
	"resource" text NOT NULL,
	"record_id" text COLLATE "C" NOT NULL,
	"run_id" bigint NOT NULL,
	"noticed_at" timestamp(6) with time zone NOT NULL,
	"asked_at" timestamp(6) with time zone,
	"found_at" timestamp(6) with time zone,
	"gone_at" timestamp(6) with time zone,
	"undecided_runs" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "missing_records_resource_record_id_pk" PRIMARY KEY("resource","record_id")
);

CREATE TABLE "sync"."page_sizes" (
	"resource" text PRIMARY KEY NOT NULL,
	"page_size" integer NOT NULL,
	"shrunk_at" timestamp(6) with time zone,
	"service" boolean NOT NULL
);

CREATE TABLE "sync"."pages" (
	"resource" text NOT NULL,
	"seq" integer NOT NULL,
	"request" text NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"meta" jsonb NOT NULL,
	"ids" text[] NOT NULL,
	"loaded_at" timestamp(6) with time zone NOT NULL,
	"run_id" bigint NOT NULL,
	"normalizer_version" integer NOT NULL,
	CONSTRAINT "pages_resource_seq_pk" PRIMARY KEY("resource","seq")
);

CREATE TABLE "sync"."prunings" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."prunings_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"horizon" timestamp(6) with time zone NOT NULL,
	"pruned_at" timestamp(6) with time zone NOT NULL,
	"changes" bigint DEFAULT 0 NOT NULL,
	"runs" bigint DEFAULT 0 NOT NULL
);

CREATE TABLE "sync"."quarantine" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."quarantine_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" bigint NOT NULL,
	"resource" text NOT NULL,
	"record_id" text,
	"reason" text NOT NULL,
	"payload" jsonb,
	"request" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	"resolved_at" timestamp(6) with time zone,
	"list_offset" bigint
);

CREATE TABLE "sync"."revisions" (
	"resource" text PRIMARY KEY NOT NULL,
	"revision" bigint NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL
);

CREATE TABLE "sync"."runs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"started_at" timestamp(6) with time zone NOT NULL,
	"finished_at" timestamp(6) with time zone,
	"heartbeat_at" timestamp(6) with time zone NOT NULL,
	"pid" integer NOT NULL,
	"host" text NOT NULL,
	"requests" bigint DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"replaced_nul" bigint DEFAULT 0 NOT NULL,
	"references_resolved" bigint DEFAULT 0 NOT NULL,
	"references_unresolved" bigint DEFAULT 0 NOT NULL,
	"transitions" bigint DEFAULT 0 NOT NULL,
	"error" text,
	"unfinished" jsonb,
	"warnings" text[] DEFAULT '{}' NOT NULL,
	"clock_ahead_min_ms" integer,
	"clock_ahead_max_ms" integer,
	"rounds" integer,
	"rounds_first_id" bigint,
	"rounds_since" timestamp(6) with time zone,
	"rounds_requests" bigint,
	"rounds_bytes" bigint
);

CREATE TABLE "sync"."service" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"base_url" text NOT NULL,
	"resources" text[] NOT NULL,
	"noted_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "service_is_one" CHECK ("sync"."service"."id")
);

CREATE TABLE "sync"."touched_records" (
	"resource" text NOT NULL,
	"record_id" text COLLATE "C"
);

CREATE TABLE "sync"."upstream_schemas" (
	"resource" text NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"body" jsonb NOT NULL,
	"first_seen_at" timestamp(6) with time zone NOT NULL,
	"run_id" bigint NOT NULL,
	CONSTRAINT "upstream_schemas_resource_body_hash_pk" PRIMARY KEY("resource","body_hash")
);

CREATE TABLE "sync"."walks" (
	"run_id" bigint NOT NULL,
	"resource" text NOT NULL,
	"walk" text,
	"reason" text,
	"started_at" timestamp(6) with time zone NOT NULL,
	"finished_at" timestamp(6) with time zone,
	"pages" integer DEFAULT 0 NOT NULL,
	"records" bigint DEFAULT 0 NOT NULL,
	"inserted" bigint DEFAULT 0 NOT NULL,
	"updated" bigint DEFAULT 0 NOT NULL,
	"unchanged" bigint DEFAULT 0 NOT NULL,
	"deleted" bigint DEFAULT 0 NOT NULL,
	"restored" bigint DEFAULT 0 NOT NULL,
	"quarantined" bigint DEFAULT 0 NOT NULL,
	"total_count" bigint,
	"began_run_id" bigint,
	"unstored" bigint,
	"deficit" bigint,
	"is_good" boolean GENERATED ALWAYS AS (walk = 'whole' or walk = 'head' and coalesce(deficit, 0) = coalesce(unstored, 0)) STORED,
	"read_from" timestamp(6),
	"read_to" timestamp(6),
	"read_since" timestamp(6) with time zone,
	"checkpoint" jsonb,
	"checkpoint_at" timestamp(6) with time zone,
	CONSTRAINT "walks_run_id_resource_pk" PRIMARY KEY("run_id","resource")
);

CREATE TABLE "rollup"."days" (
	"day" date PRIMARY KEY NOT NULL,
	"builds" integer NOT NULL,
	"finished" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"failed" integer NOT NULL,
	"unsettled" integer NOT NULL,
	"projects" integer NOT NULL,
	"success_rate_project_mean" double precision,
	"measured" integer NOT NULL,
	"p50_s_min" double precision,
	"p50_s_max" double precision,
	"p90_s_min" double precision,
	"p90_s_max" double precision,
	"p95_s_min" double precision,
	"p95_s_max" double precision,
	"stuck" integer DEFAULT 0 NOT NULL
);

CREATE TABLE "rollup"."errors" (
	"error_class" text NOT NULL,
	"error_fingerprint" text NOT NULL,
	"failures" integer NOT NULL,
	"projects" integer NOT NULL,
	"first_triggered_at" timestamp(6) with time zone,
	"last_triggered_at" timestamp(6) with time zone,
	"last_build_id" text COLLATE "C" NOT NULL,
	"project_id" text COLLATE "C" NOT NULL,
	"error_line_id" text DEFAULT '' NOT NULL,
	"masked_line" text,
	CONSTRAINT "errors_key" PRIMARY KEY("error_fingerprint","project_id","error_class","error_line_id")
);

CREATE TABLE "rollup"."project_days" (
	"project_id" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"builds" integer NOT NULL,
	"finished" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"failed" integer NOT NULL,
	"unsettled" integer NOT NULL,
	"stuck" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "project_days_project_id_day_pk" PRIMARY KEY("project_id","day")
);

CREATE TABLE "rollup"."builds" (
	"build_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"project_id" text COLLATE "C" NOT NULL,
	"version_id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"reference" text DEFAULT '' NOT NULL,
	"state" text,
	"outcome" text NOT NULL,
	"succeeded" integer,
	"failed" integer,
	"is_settled" boolean NOT NULL,
	"triggered_at" timestamp(6) with time zone,
	"triggered_on" date,
	"is_time_ambiguous" boolean NOT NULL,
	"ahead_until" timestamp(6) with time zone,
	"finished_after" timestamp(6) with time zone,
	"finished_before" timestamp(6) with time zone,
	"duration_s_min" double precision,
	"duration_s_max" double precision,
	"queued_s_min" double precision,
	"queued_s_max" double precision,
	"building_s_min" double precision,
	"building_s_max" double precision,
	"error_class" text,
	"error_fingerprint" text,
	"error_line" text,
	"masked_line" text,
	"error_line_id" text,
	"first_seen_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	"last_seen_at" timestamp(6) with time zone,
	"record_hash" "bytea" NOT NULL,
	"updated_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "rollup"."series" (
	"project_id" text COLLATE "C" NOT NULL,
	"version_id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"builds" integer NOT NULL,
	"finished" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"failed" integer NOT NULL,
	"first_triggered_at" timestamp(6) with time zone,
	"last_triggered_at" timestamp(6) with time zone,
	"recent_finished" integer NOT NULL,
	"recent_succeeded" integer NOT NULL,
	"recent_flips" integer NOT NULL,
	"reference" text DEFAULT '' NOT NULL,
	CONSTRAINT "series_project_id_version_id_type_reference_pk" PRIMARY KEY("project_id","version_id","type","reference")
);

CREATE TABLE "rollup"."streaks" (
	"project_id" text COLLATE "C" NOT NULL,
	"version_id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"first_failed_build_id" text COLLATE "C" NOT NULL,
	"last_failed_build_id" text COLLATE "C" NOT NULL,
	"last_succeeded_build_id" text COLLATE "C",
	"last_succeeded_at" timestamp(6) with time zone,
	"recovered_build_id" text COLLATE "C",
	"recovered_at" timestamp(6) with time zone,
	"recovered_after" timestamp(6) with time zone,
	"recovered_before" timestamp(6) with time zone,
	"failures" integer NOT NULL,
	"broke_at" timestamp(6) with time zone,
	"failed_after" timestamp(6) with time zone,
	"failed_before" timestamp(6) with time zone,
	"error_class" text,
	"reference" text DEFAULT '' NOT NULL,
	CONSTRAINT "streaks_first_failed_build_id_pk" PRIMARY KEY("first_failed_build_id")
);

CREATE TABLE "rollup"."backlog" (
	"hour" timestamp(6) with time zone PRIMARY KEY NOT NULL,
	"open_min" integer NOT NULL,
	"open_max" integer NOT NULL
);

CREATE TABLE "rollup"."hours" (
	"hour" timestamp(6) with time zone PRIMARY KEY NOT NULL,
	"projects" integer NOT NULL,
	"projects_failing" integer NOT NULL,
	"projects_expected" double precision NOT NULL,
	"probability" double precision NOT NULL,
	"builds" integer NOT NULL,
	"failed" integer NOT NULL
);

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

CREATE TABLE "rollup"."resources" (
	"resource" text PRIMARY KEY NOT NULL,
	"records" bigint NOT NULL,
	"deleted_records" bigint NOT NULL
);

ALTER TABLE "mirror"."build_transitions" ADD CONSTRAINT "build_transitions_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "mirror"."builds"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "sync"."open_builds" ADD CONSTRAINT "open_builds_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "mirror"."builds"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."file_anchors" ADD CONSTRAINT "file_anchors_file_id_file_contents_file_id_fk" FOREIGN KEY ("file_id") REFERENCES "mirror"."file_contents"("file_id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "mirror"."file_contents" ADD CONSTRAINT "file_contents_file_id_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "mirror"."files"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."file_contents" ADD CONSTRAINT "file_contents_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."archived_logs" ADD CONSTRAINT "archived_logs_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "mirror"."builds"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."archived_logs" ADD CONSTRAINT "archived_logs_file_id_log_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "mirror"."log_files"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."build_logs" ADD CONSTRAINT "build_logs_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "mirror"."builds"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."builds" ADD CONSTRAINT "builds_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."builds" ADD CONSTRAINT "builds_version_id_versions_id_fk" FOREIGN KEY ("version_id") REFERENCES "mirror"."versions"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."files" ADD CONSTRAINT "files_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."project_users" ADD CONSTRAINT "project_users_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."project_users" ADD CONSTRAINT "project_users_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "mirror"."users"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "mirror"."versions" ADD CONSTRAINT "versions_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "report"."dim_versions" ADD CONSTRAINT "dim_versions_project_id_dim_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "report"."dim_projects"("project_id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "sync"."page_sizes" ADD CONSTRAINT "page_sizes_service_service_id_fk" FOREIGN KEY ("service") REFERENCES "sync"."service"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "sync"."walks" ADD CONSTRAINT "walks_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "sync"."runs"("id") ON DELETE cascade ON UPDATE no action;

CREATE INDEX "build_transitions_run" ON "mirror"."build_transitions" USING brin ("run_id");
CREATE INDEX "changes_record" ON "mirror"."changes" USING btree ("resource","record_id","id");
CREATE INDEX "changes_observed" ON "mirror"."changes" USING btree ("resource","observed_at");
CREATE INDEX "file_anchors_search" ON "mirror"."file_anchors" USING gin ("search") WITH (fastupdate=false);
CREATE INDEX "file_contents_search" ON "mirror"."file_contents" USING gin ("search") WITH (fastupdate=false);
CREATE INDEX "file_contents_project_id" ON "mirror"."file_contents" USING btree ("project_id");
CREATE INDEX "notices_waiting" ON "sync"."notices" USING btree ("next_try_at") WHERE delivered_at is null and given_up_at is null;
CREATE INDEX "builds_project_id" ON "mirror"."builds" USING btree ("project_id");
CREATE INDEX "builds_version_id" ON "mirror"."builds" USING btree ("version_id");
CREATE INDEX "builds_list" ON "mirror"."builds" USING btree (coalesce(date, 'infinity'::timestamp) desc,length("id"),"id") WHERE deleted_at is null;
CREATE INDEX "builds_unfinished" ON "mirror"."builds" USING btree ("id") WHERE state <> 'finished' and deleted_at is null;
CREATE INDEX "files_project_id" ON "mirror"."files" USING btree ("project_id");
CREATE INDEX "files_list" ON "mirror"."files" USING btree (length("id"),"id") WHERE deleted_at is null;
CREATE INDEX "files_deleted" ON "mirror"."files" USING btree ("id") WHERE deleted_at is not null;
CREATE INDEX "project_users_user_id" ON "mirror"."project_users" USING btree ("user_id");
CREATE INDEX "projects_list" ON "mirror"."projects" USING btree (left(coalesce(slug, ''), 300) collate "C",length("id"),"id") WHERE deleted_at is null;
CREATE INDEX "projects_slug" ON "mirror"."projects" USING hash ("slug");
CREATE INDEX "users_list" ON "mirror"."users" USING btree (length("id"),"id") WHERE deleted_at is null;
CREATE INDEX "versions_project_id" ON "mirror"."versions" USING btree ("project_id");
CREATE INDEX "versions_list" ON "mirror"."versions" USING btree (left(coalesce(verbose_name, ''), 300) collate "C" desc,length("id"),"id") WHERE deleted_at is null;
CREATE INDEX "dim_versions_project_id" ON "report"."dim_versions" USING btree ("project_id");
CREATE INDEX "drift_resource" ON "sync"."drift" USING btree ("resource","id");
CREATE INDEX "quarantine_resource" ON "sync"."quarantine" USING btree ("resource","id");
CREATE INDEX "runs_syncs" ON "sync"."runs" USING btree ("id") WHERE kind <> 'watch';
CREATE INDEX "runs_open" ON "sync"."runs" USING btree ("id") WHERE status = 'running';
CREATE INDEX "walks_resource" ON "sync"."walks" USING btree ("resource","run_id");
CREATE INDEX "walks_whole_run" ON "sync"."walks" USING btree ("resource","run_id") WHERE walk = 'whole';
CREATE INDEX "walks_shares" ON "sync"."walks" USING btree ("run_id") WHERE read_to is not null;
CREATE INDEX "walks_good" ON "sync"."walks" USING btree ("resource","run_id") WHERE is_good;
CREATE INDEX "project_days_day" ON "rollup"."project_days" USING btree ("day");
CREATE INDEX "builds_newest" ON "rollup"."builds" USING btree ("triggered_on" DESC NULLS LAST,"triggered_at" DESC NULLS LAST,"build_id" DESC NULLS LAST);
CREATE INDEX "builds_project_day" ON "rollup"."builds" USING btree ("project_id","triggered_on");
CREATE INDEX "builds_unsettled" ON "rollup"."builds" USING btree ("build_id") WHERE not is_settled or last_seen_at is not null;
-- INCLUDE is by hand: drizzle-kit has no word for it.
CREATE INDEX "builds_series" ON "rollup"."builds" USING btree ("project_id","version_id","type","reference","triggered_at" NULLS FIRST,length(build_id),"build_id") INCLUDE ("succeeded");
CREATE INDEX "builds_fingerprint" ON "rollup"."builds" USING btree ("error_fingerprint","project_id") WHERE failed = 1;
CREATE INDEX "builds_failed_line" ON "rollup"."builds" USING btree ("triggered_on","error_class","error_fingerprint","error_line_id","project_id") WHERE failed = 1;
CREATE INDEX "builds_ahead" ON "rollup"."builds" USING btree ("ahead_until") WHERE ahead_until is not null;
CREATE INDEX "streaks_series" ON "rollup"."streaks" USING btree ("project_id","version_id","type","reference","broke_at");
CREATE INDEX "streaks_broke_at" ON "rollup"."streaks" USING btree ("broke_at");
CREATE INDEX "streaks_recovered_at" ON "rollup"."streaks" USING btree ("recovered_at");

-- Part 2: storage

-- A search for a common word reads many rows of the table, so the long values lie outside of it.
ALTER TABLE mirror.file_contents SET (toast_tuple_target = 512);

-- Compressing the texts of builds is half of the work of loading them; lz4 does it in less than half of the time, and unpacks several times
-- as fast. A server may be built without it, as the embedded one is: then the tables stay as they are.
DO $$
BEGIN
  IF 'lz4' = ANY (SELECT unnest(enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
    ALTER TABLE mirror.build_logs
      ALTER COLUMN output SET COMPRESSION lz4,
      ALTER COLUMN error SET COMPRESSION lz4,
      ALTER COLUMN setup SET COMPRESSION lz4,
      ALTER COLUMN setup_error SET COMPRESSION lz4;
    ALTER TABLE mirror.file_contents
      ALTER COLUMN text SET COMPRESSION lz4,
      ALTER COLUMN anchors SET COMPRESSION lz4,
      ALTER COLUMN search SET COMPRESSION lz4;
  END IF;
END
$$;


-- Part 3: local times

-- The moments that a local time may have meant: two in the hour that the end of summer time repeats; in the hour that its begin skips, none,
-- and then the two that the clocks on either side of it would give. `hour` says 'repeated' or 'skipped' there, else null.
CREATE FUNCTION mirror.read_local_time(local timestamp, zone text)
RETURNS TABLE (earliest timestamptz, latest timestamptz, hour text)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT least(before, after), greatest(before, after),
    CASE WHEN before <> after THEN
      CASE WHEN before AT TIME ZONE zone = local AND after AT TIME ZONE zone = local THEN 'repeated' ELSE 'skipped' END
    END
  FROM (
    SELECT
      CASE WHEN is_before OR NOT is_after THEN before ELSE after END AS before,
      CASE WHEN is_after OR NOT is_before THEN after ELSE before END AS after
    FROM (
      SELECT before, after, before AT TIME ZONE zone = local AS is_before, after AT TIME ZONE zone = local AS is_after
      FROM (
        SELECT
          (local - interval '24 hours') AT TIME ZONE zone + interval '24 hours' AS before,
          (local + interval '24 hours') AT TIME ZONE zone - interval '24 hours' AS after
      ) AS reading
    ) AS checked
  ) AS possible
$$;


-- Part 4: logs in archives

-- Of the hashes of the texts, so that no two logs are one text: DuckDB computes it from its files in the same way.
CREATE FUNCTION mirror.log_hash(output text, error text, setup text, setup_error text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT sha256(convert_to(
    coalesce(encode(sha256(convert_to(output, 'UTF8')), 'hex'), '-') || coalesce(encode(sha256(convert_to(error, 'UTF8')), 'hex'), '-')
    || coalesce(encode(sha256(convert_to(setup, 'UTF8')), 'hex'), '-') || coalesce(encode(sha256(convert_to(setup_error, 'UTF8')), 'hex'), '-'),
    'UTF8'))
$$;
COMMENT ON FUNCTION mirror.log_hash(text, text, text, text) IS 'A hash of the four texts of a log: the SHA-256 of their SHA-256 in hex, one after the other, a dash for a null.';


-- Part 5: the mirror as it was at an earlier moment

-- Written over rows from the newest change to the oldest, it gives at each of them what the changes behind it undo; each row costs the same,
-- since a window that only grows goes on from what it has.
CREATE AGGREGATE mirror.merge_objects (jsonb) (SFUNC = jsonb_concat, STYPE = jsonb, INITCOND = '{}', PARALLEL = SAFE);
COMMENT ON AGGREGATE mirror.merge_objects (jsonb) IS 'One object of many, in the order of the rows: of a field that several have, the last one counts. Nulls are passed over.';

CREATE FUNCTION mirror.history_begins_at() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT coalesce(max(horizon), '-infinity') FROM sync.prunings WHERE changes > 0
$$;
COMMENT ON FUNCTION mirror.history_begins_at() IS 'The moment from which on the mirror can be looked back at: older changes were pruned. -infinity while none were.';

CREATE FUNCTION mirror.assert_known_at(moment timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  IF moment < mirror.history_begins_at() THEN
    RAISE EXCEPTION 'the mirror as of % is not known any more', moment
      USING ERRCODE = 'invalid_parameter_value',
        DETAIL = format('changes before %s were pruned', mirror.history_begins_at()),
        HINT = 'ask for a later moment; mirror.history_begins_at() gives the earliest';
  END IF;
  RETURN true;
END
$$;
COMMENT ON FUNCTION mirror.assert_known_at(timestamptz) IS 'True; raises an error for a moment whose changes were pruned.';

-- A change is known since it was observed, and not before the changes that were written before it: of pages that come at once, one that
-- was here earlier may be stored later. So all changes of a record count from the first on that was observed after the moment.
CREATE FUNCTION mirror.changes_since(of_resource text, moment timestamptz)
RETURNS TABLE (record_id text, before jsonb, turn text, deleted_at timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT
    later.record_id,
    mirror.merge_objects(change.before ORDER BY change.id DESC),
    (array_agg(change.kind ORDER BY change.id) FILTER (WHERE change.kind <> 'updated'))[1],
    CASE (array_agg(change.kind ORDER BY change.id) FILTER (WHERE change.kind <> 'updated'))[1] WHEN 'restored' THEN (
      SELECT deletion.observed_at FROM mirror.changes AS deletion
      WHERE deletion.resource = of_resource AND deletion.record_id = later.record_id
        AND deletion.id < later.first_id AND deletion.kind = 'deleted'
      ORDER BY deletion.id DESC LIMIT 1
    ) END
  FROM (
    SELECT record_id, min(id) AS first_id FROM mirror.changes
    WHERE resource = of_resource AND observed_at > moment
    GROUP BY record_id
  ) AS later
  JOIN mirror.changes AS change
    ON change.resource = of_resource AND change.record_id = later.record_id AND change.id >= later.first_id
  GROUP BY later.record_id, later.first_id
$$;
COMMENT ON FUNCTION mirror.changes_since(text, timestamptz) IS 'For each record of a resource that changed after a moment: the fields as they were then, whether it was deleted or restored first since, and for one that was restored, since when it had been deleted.';

-- Types rather than RETURNS TABLE: only they keep the collation of the ids, without which a search by id would find no index.
CREATE TYPE mirror.project_as_of AS (
  id text COLLATE "C", resource_uri text, absolute_url text, name text, slug text, description text,
  analytics_code text, copyright text, pkgindex_url text, pkgdirectory_url text, default_branch text,
  default_version text, documentation_type text, project_url text, repo text, repo_type text,
  requirements_file text, subdomain text, suffix text, theme text, use_virtualenv boolean,
  modified_date timestamp(6), pub_date timestamp(6), version text, users jsonb,
  extra jsonb, first_seen_at timestamptz(6), deleted_at timestamptz(6)
);
COMMENT ON TYPE mirror.project_as_of IS 'A project as mirror.projects_as_of gives it.';
COMMENT ON COLUMN mirror.project_as_of.users IS 'The URIs of its administrators, in the order of the record.';
COMMENT ON COLUMN mirror.project_as_of.deleted_at IS 'As known then: null before the deletion was seen, and again once the project was back.';

CREATE FUNCTION mirror.projects_as_of(moment timestamptz) RETURNS SETOF mirror.project_as_of
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT
    project.id, was.resource_uri, was.absolute_url, was.name, was.slug, was.description, was.analytics_code, was.copyright,
    was.pkgindex_url, was.pkgdirectory_url, was.default_branch, was.default_version, was.documentation_type, was.project_url,
    was.repo, was.repo_type, was.requirements_file, was.subdomain, was.suffix, was.theme, was.use_virtualenv,
    was.modified_date, was.pub_date, was.version,
    coalesce(since.before -> 'users', (
      SELECT coalesce(jsonb_agg(user_uri ORDER BY position), '[]') FROM mirror.project_users WHERE project_id = project.id
    )),
    was.extra, project.first_seen_at,
    CASE since.turn WHEN 'deleted' THEN NULL WHEN 'restored' THEN since.deleted_at ELSE project.deleted_at END
  FROM mirror.projects AS project
  LEFT JOIN mirror.changes_since('project', moment) AS since ON since.record_id = project.id
  CROSS JOIN LATERAL jsonb_populate_record(project, since.before) AS was
  WHERE mirror.assert_known_at(moment) AND project.first_seen_at <= moment
$$;
COMMENT ON FUNCTION mirror.projects_as_of(timestamptz) IS 'The projects as the mirror knew them at a moment, those that were deleted by then too. Raises an error for a moment whose changes were pruned.';

CREATE TYPE mirror.version_as_of AS (
  id text COLLATE "C", resource_uri text, slug text, verbose_name text, identifier text, active boolean,
  built boolean, uploaded boolean, project_id text COLLATE "C",
  extra jsonb, first_seen_at timestamptz(6), deleted_at timestamptz(6)
);
COMMENT ON TYPE mirror.version_as_of IS 'A version as mirror.versions_as_of gives it.';
COMMENT ON COLUMN mirror.version_as_of.project_id IS 'Null while that project was not here.';
COMMENT ON COLUMN mirror.version_as_of.deleted_at IS 'As known then: null before the deletion was seen, and again once the version was back.';

CREATE FUNCTION mirror.versions_as_of(moment timestamptz) RETURNS SETOF mirror.version_as_of
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT
    version.id, was.resource_uri, was.slug, was.verbose_name, was.identifier, was.active, was.built, was.uploaded, project.id,
    was.extra, version.first_seen_at,
    CASE since.turn WHEN 'deleted' THEN NULL WHEN 'restored' THEN since.deleted_at ELSE version.deleted_at END
  FROM mirror.versions AS version
  LEFT JOIN mirror.changes_since('version', moment) AS since ON since.record_id = version.id
  CROSS JOIN LATERAL jsonb_populate_record(version, since.before) AS was
  LEFT JOIN mirror.projects AS project ON project.id = was.project_id AND project.first_seen_at <= moment
  WHERE mirror.assert_known_at(moment) AND version.first_seen_at <= moment
$$;
COMMENT ON FUNCTION mirror.versions_as_of(timestamptz) IS 'The versions as the mirror knew them at a moment, those that were deleted by then too. Raises an error for a moment whose changes were pruned.';

CREATE TYPE mirror.build_as_of AS (
  id text COLLATE "C", resource_uri text, date timestamp(6), state text, success boolean, type text,
  project_uri text, version_uri text, project_id text COLLATE "C", version_id text COLLATE "C",
  extra jsonb, first_seen_at timestamptz(6), deleted_at timestamptz(6)
);
COMMENT ON TYPE mirror.build_as_of IS 'A build as mirror.builds_as_of gives it. Its texts are not among it: changes keep them by hash alone.';
COMMENT ON COLUMN mirror.build_as_of.project_id IS 'Null while that project was not here.';
COMMENT ON COLUMN mirror.build_as_of.version_id IS 'Null while that version was not here.';
COMMENT ON COLUMN mirror.build_as_of.deleted_at IS 'As known then: null before the deletion was seen, and again once the build was back.';

CREATE FUNCTION mirror.builds_as_of(moment timestamptz) RETURNS SETOF mirror.build_as_of
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT
    build.id, was.resource_uri, was.date, was.state, was.success, was.type, was.project_uri, was.version_uri,
    project.id, version.id, was.extra, build.first_seen_at,
    CASE since.turn WHEN 'deleted' THEN NULL WHEN 'restored' THEN since.deleted_at ELSE build.deleted_at END
  FROM mirror.builds AS build
  LEFT JOIN mirror.changes_since('build', moment) AS since ON since.record_id = build.id
  CROSS JOIN LATERAL jsonb_populate_record(build, since.before) AS was
  LEFT JOIN mirror.projects AS project ON project.id = was.project_id AND project.first_seen_at <= moment
  LEFT JOIN mirror.versions AS version ON version.id = was.version_id AND version.first_seen_at <= moment
  WHERE mirror.assert_known_at(moment) AND build.first_seen_at <= moment
$$;
COMMENT ON FUNCTION mirror.builds_as_of(timestamptz) IS 'The builds as the mirror knew them at a moment, those that were deleted by then too, without their texts. Raises an error for a moment whose changes were pruned.';

-- A record begins with its first sight, and each change ends one state and begins another. What a state held is the row of today with
-- all later changes undone. A change counts from when it was observed, and not before those that were written before it.
CREATE VIEW mirror.record_states AS
WITH event AS (
  SELECT 'project' AS resource, id AS record_id, 0::bigint AS id, first_seen_at AS observed_at, NULL AS kind, NULL::jsonb AS before
  FROM mirror.projects
  UNION ALL
  SELECT 'version', id, 0, first_seen_at, NULL, NULL FROM mirror.versions
  UNION ALL
  SELECT resource, record_id, id, observed_at, kind, before FROM mirror.changes
), state AS (
  SELECT resource, record_id, id,
    max(observed_at) OVER until_then AS valid_from,
    mirror.merge_objects(before) OVER (
      PARTITION BY resource, record_id ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS since,
    max(id) FILTER (WHERE kind = 'deleted') OVER until_then
      > coalesce(max(id) FILTER (WHERE kind = 'restored') OVER until_then, 0) AS is_deleted
  FROM event
  WINDOW until_then AS (PARTITION BY resource, record_id ORDER BY id)
), span AS (
  SELECT *, lead(valid_from) OVER (PARTITION BY resource, record_id ORDER BY id) AS valid_to FROM state
)
SELECT resource, record_id, since, valid_from, valid_to FROM span
WHERE is_deleted IS NOT TRUE
  AND (valid_to IS NULL OR (valid_from < valid_to AND valid_to > (SELECT mirror.history_begins_at())));
COMMENT ON VIEW mirror.record_states IS 'The states that projects and versions were in, with what is to be undone of the row of today; the history views give it in columns.';
COMMENT ON COLUMN mirror.record_states.resource IS 'project or version.';
COMMENT ON COLUMN mirror.record_states.record_id IS 'The id of the record.';
COMMENT ON COLUMN mirror.record_states.since IS 'The fields that changed after this state, with the values that they had in it.';
COMMENT ON COLUMN mirror.record_states.valid_from IS 'When the state was first seen.';
COMMENT ON COLUMN mirror.record_states.valid_to IS 'When another state, or the deletion, was first seen; null: it is the state of now.';

CREATE VIEW mirror.project_history AS
SELECT
  project.id, was.resource_uri, was.absolute_url, was.name, was.slug, was.description, was.analytics_code, was.copyright,
  was.pkgindex_url, was.pkgdirectory_url, was.default_branch, was.default_version, was.documentation_type, was.project_url,
  was.repo, was.repo_type, was.requirements_file, was.subdomain, was.suffix, was.theme, was.use_virtualenv,
  was.modified_date, was.pub_date, was.version,
  coalesce(state.since -> 'users', (
    SELECT coalesce(jsonb_agg(user_uri ORDER BY position), '[]') FROM mirror.project_users WHERE project_id = project.id
  )) AS users,
  was.extra, state.valid_from, state.valid_to
FROM mirror.record_states AS state
JOIN mirror.projects AS project ON project.id = state.record_id
CROSS JOIN LATERAL jsonb_populate_record(project, state.since) AS was
WHERE state.resource = 'project';
COMMENT ON VIEW mirror.project_history IS 'Each state that a project was seen in: from its first sight, a change or a return until the next change or its deletion.';
COMMENT ON COLUMN mirror.project_history.id IS 'The id of the record, as text.';
COMMENT ON COLUMN mirror.project_history.resource_uri IS 'The path of the record itself, as sent.';
COMMENT ON COLUMN mirror.project_history.absolute_url IS 'The address of its documentation.';
COMMENT ON COLUMN mirror.project_history.name IS 'The name of the project.';
COMMENT ON COLUMN mirror.project_history.slug IS 'The name in addresses.';
COMMENT ON COLUMN mirror.project_history.description IS 'A text about it.';
COMMENT ON COLUMN mirror.project_history.analytics_code IS 'The code of a counter of visitors; may be empty.';
COMMENT ON COLUMN mirror.project_history.copyright IS 'The copyright notice.';
COMMENT ON COLUMN mirror.project_history.pkgindex_url IS 'The address of its package in an index; may be empty.';
COMMENT ON COLUMN mirror.project_history.pkgdirectory_url IS 'The address of its packages; may be empty.';
COMMENT ON COLUMN mirror.project_history.default_branch IS 'The branch that latest is built from; may be empty.';
COMMENT ON COLUMN mirror.project_history.default_version IS 'The slug of the version that readers see first.';
COMMENT ON COLUMN mirror.project_history.documentation_type IS 'The tool that builds it.';
COMMENT ON COLUMN mirror.project_history.project_url IS 'The home of the project.';
COMMENT ON COLUMN mirror.project_history.repo IS 'The address of its repository.';
COMMENT ON COLUMN mirror.project_history.repo_type IS 'The kind of repository: git, hg, bzr or svn.';
COMMENT ON COLUMN mirror.project_history.requirements_file IS 'The file of the packages that a build installs.';
COMMENT ON COLUMN mirror.project_history.subdomain IS 'The address below which its documentation is.';
COMMENT ON COLUMN mirror.project_history.suffix IS 'The ending of its source files.';
COMMENT ON COLUMN mirror.project_history.theme IS 'The theme of its documentation.';
COMMENT ON COLUMN mirror.project_history.use_virtualenv IS 'Whether it is built in a virtual environment.';
COMMENT ON COLUMN mirror.project_history.modified_date IS 'When it last changed, as sent: without a zone.';
COMMENT ON COLUMN mirror.project_history.pub_date IS 'When it was created, as sent: without a zone.';
COMMENT ON COLUMN mirror.project_history.version IS 'Deprecated by the service, and empty.';
COMMENT ON COLUMN mirror.project_history.users IS 'The URIs of its administrators, in the order of the record.';
COMMENT ON COLUMN mirror.project_history.extra IS 'What the columns cannot hold: fields that are not documented or do not fit, and documented ones that were missing; null for a record that fits.';
COMMENT ON COLUMN mirror.project_history.valid_from IS 'When the state was first seen.';
COMMENT ON COLUMN mirror.project_history.valid_to IS 'When another state, or the deletion, was first seen; null: it is the state of now.';

CREATE VIEW mirror.version_history AS
SELECT
  version.id, was.resource_uri, was.slug, was.verbose_name, was.identifier, was.active, was.built, was.uploaded, was.project_id,
  was.extra, state.valid_from, state.valid_to
FROM mirror.record_states AS state
JOIN mirror.versions AS version ON version.id = state.record_id
CROSS JOIN LATERAL jsonb_populate_record(version, state.since) AS was
WHERE state.resource = 'version';
COMMENT ON VIEW mirror.version_history IS 'Each state that a version was seen in: from its first sight, a change or a return until the next change or its deletion.';
COMMENT ON COLUMN mirror.version_history.id IS 'The id of the record, as text.';
COMMENT ON COLUMN mirror.version_history.resource_uri IS 'The path of the record itself, as sent.';
COMMENT ON COLUMN mirror.version_history.slug IS 'The name in addresses, unique within the project.';
COMMENT ON COLUMN mirror.version_history.verbose_name IS 'The name as the repository spells it.';
COMMENT ON COLUMN mirror.version_history.identifier IS 'The branch, tag or commit.';
COMMENT ON COLUMN mirror.version_history.active IS 'Whether its documentation is kept up to date.';
COMMENT ON COLUMN mirror.version_history.built IS 'Whether it was ever built, as the service says.';
COMMENT ON COLUMN mirror.version_history.uploaded IS 'Whether its documentation was uploaded, not built.';
COMMENT ON COLUMN mirror.version_history.project_id IS 'The project at that time.';
COMMENT ON COLUMN mirror.version_history.extra IS 'What the columns cannot hold: fields that are not documented or do not fit, and documented ones that were missing; null for a record that fits.';
COMMENT ON COLUMN mirror.version_history.valid_from IS 'When the state was first seen.';
COMMENT ON COLUMN mirror.version_history.valid_to IS 'When another state, or the deletion, was first seen; null: it is the state of now.';


-- Part 6: how often the records of each resource changed, in sync.revisions

-- A change has the time at which it is made. The begin of its transaction may lie before changes that clients have read already.
-- A clock that was put back would give such a time too, and 'Last-Modified' has whole seconds. So each change comes at least a second after
-- all others then, those of other resources too: a list holds records of several.
CREATE FUNCTION sync.moment_after(earlier timestamptz) RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT CASE WHEN now.at > earlier THEN now.at ELSE earlier + interval '1 second' END
  FROM (SELECT clock_timestamp() AS at) AS now
$$;

-- A trigger for each event: one with a transition table can have only one. Without that table a statement that changed no row would count.
CREATE FUNCTION sync.count_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM changed) THEN
    INSERT INTO sync.revisions AS known (resource, revision, changed_at)
    VALUES (tg_argv[0], 1, sync.moment_after((SELECT coalesce(max(changed_at), '-infinity') FROM sync.revisions)))
    ON CONFLICT (resource) DO UPDATE SET revision = known.revision + 1,
      changed_at = greatest(excluded.changed_at, sync.moment_after(known.changed_at));
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER count_insert AFTER INSERT ON mirror.users REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('user');
CREATE TRIGGER count_update AFTER UPDATE ON mirror.users REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('user');
CREATE TRIGGER count_delete AFTER DELETE ON mirror.users REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('user');
CREATE TRIGGER count_insert AFTER INSERT ON mirror.projects REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');
CREATE TRIGGER count_update AFTER UPDATE ON mirror.projects REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');
CREATE TRIGGER count_delete AFTER DELETE ON mirror.projects REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');
CREATE TRIGGER count_insert AFTER INSERT ON mirror.versions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('version');
CREATE TRIGGER count_update AFTER UPDATE ON mirror.versions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('version');
CREATE TRIGGER count_delete AFTER DELETE ON mirror.versions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('version');
CREATE TRIGGER count_insert AFTER INSERT ON mirror.files REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('file');
CREATE TRIGGER count_update AFTER UPDATE ON mirror.files REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('file');
CREATE TRIGGER count_delete AFTER DELETE ON mirror.files REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('file');
CREATE TRIGGER count_insert AFTER INSERT ON mirror.builds REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('build');
CREATE TRIGGER count_update AFTER UPDATE ON mirror.builds REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('build');
CREATE TRIGGER count_delete AFTER DELETE ON mirror.builds REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('build');

-- A reference that is resolved later changes this table alone.
CREATE TRIGGER count_insert AFTER INSERT ON mirror.project_users REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');
CREATE TRIGGER count_update AFTER UPDATE ON mirror.project_users REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');
CREATE TRIGGER count_delete AFTER DELETE ON mirror.project_users REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');

-- A build whose log was archived is served without its texts from then on.
CREATE TRIGGER count_insert AFTER INSERT ON mirror.archived_logs REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('build');

-- A list does not show the records that are missing from it.
CREATE FUNCTION sync.count_missing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sync.revisions AS known (resource, revision, changed_at)
  SELECT resource, 1, sync.moment_after((SELECT coalesce(max(changed_at), '-infinity') FROM sync.revisions))
  FROM (SELECT DISTINCT resource FROM changed) AS those
  ON CONFLICT (resource) DO UPDATE SET revision = known.revision + 1,
    changed_at = greatest(excluded.changed_at, sync.moment_after(known.changed_at));
  RETURN NULL;
END
$$;

CREATE TRIGGER count_insert AFTER INSERT ON sync.missing_records REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_missing();
CREATE TRIGGER count_delete AFTER DELETE ON sync.missing_records REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_missing();


-- Part 7: which records the next refresh of the reports has to read, in sync.touched_records

-- The table is append-only and without a key: writers never wait for each other or for a refresh, and nothing is lost by a row that exists
-- already. Ids are of no use before there are answers, because the first refresh reads everything, and in a large table, which no refresh
-- empties. One row without an id says there that something changed.
CREATE FUNCTION sync.takes_touched_ids() RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT EXISTS (SELECT FROM rollup.series) AND pg_relation_size('sync.touched_records') < 67108864
$$;

CREATE FUNCTION sync.note_touched() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER touch_insert AFTER INSERT ON mirror.projects REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('project');
CREATE TRIGGER touch_update AFTER UPDATE ON mirror.projects REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('project');
CREATE TRIGGER touch_delete AFTER DELETE ON mirror.projects REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('project');
CREATE TRIGGER touch_insert AFTER INSERT ON mirror.versions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('version');
CREATE TRIGGER touch_update AFTER UPDATE ON mirror.versions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('version');
CREATE TRIGGER touch_delete AFTER DELETE ON mirror.versions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('version');

-- The texts of a build are written with its row, so they need no trigger, which would copy megabytes.
CREATE TRIGGER touch_insert AFTER INSERT ON mirror.builds REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('build');
CREATE TRIGGER touch_update AFTER UPDATE ON mirror.builds REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('build');
CREATE TRIGGER touch_delete AFTER DELETE ON mirror.builds REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched('build');

-- The same for tables whose rows belong to a build.
CREATE FUNCTION sync.note_touched_build() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER touch_insert AFTER INSERT ON mirror.build_transitions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();
CREATE TRIGGER touch_update AFTER UPDATE ON mirror.build_transitions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();
CREATE TRIGGER touch_delete AFTER DELETE ON mirror.build_transitions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();
CREATE TRIGGER touch_insert AFTER INSERT ON sync.open_builds REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();
CREATE TRIGGER touch_update AFTER UPDATE ON sync.open_builds REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();
CREATE TRIGGER touch_delete AFTER DELETE ON sync.open_builds REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_touched_build();


-- Part 8: which months of facts changed, so that an export writes their files again, in rollup.fact_months

-- Most statements touch few days, so days are made distinct before they become months. A build that moves counts
-- for the month it leaves too.
CREATE FUNCTION sync.note_fact_months() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF tg_op = 'UPDATE' THEN
    INSERT INTO rollup.fact_months
    SELECT month, gen_random_uuid() FROM (
      SELECT DISTINCT coalesce(to_char(triggered_on, 'YYYY-MM'), '') AS month
      FROM (SELECT triggered_on FROM before UNION SELECT triggered_on FROM changed) AS day
    ) AS touched ORDER BY month
    ON CONFLICT (month) DO UPDATE SET revision = excluded.revision;
  ELSE
    INSERT INTO rollup.fact_months
    SELECT month, gen_random_uuid() FROM (
      SELECT DISTINCT coalesce(to_char(triggered_on, 'YYYY-MM'), '') AS month
      FROM (SELECT DISTINCT triggered_on FROM changed) AS day
    ) AS touched ORDER BY month
    ON CONFLICT (month) DO UPDATE SET revision = excluded.revision;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER note_insert AFTER INSERT ON rollup.builds REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_fact_months();
CREATE TRIGGER note_update AFTER UPDATE ON rollup.builds REFERENCING OLD TABLE AS before NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_fact_months();
CREATE TRIGGER note_delete AFTER DELETE ON rollup.builds REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_fact_months();

CREATE FUNCTION sync.note_all_fact_months() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE rollup.fact_months SET revision = gen_random_uuid();
  RETURN NULL;
END
$$;

CREATE TRIGGER note_truncate AFTER TRUNCATE ON rollup.builds FOR EACH STATEMENT EXECUTE FUNCTION sync.note_all_fact_months();


-- Part 9: the first rows

-- The rules that failures are classified by at first. Users may change them.
INSERT INTO report.error_rules (position, pattern, class, note, is_platform) VALUES
  (10, 'terminated due to inactivity', 'infra', 'closed by the service''s own job after it hung: no fault of the project', true),
  (20, 'cannot connect to the docker|error response from daemon|container .*(died|not running)|internal server error|worker (was )?lost', 'infra', 'the platform', true),
  (30, 'cancell?ed (by|due)|build (was )?cancell?ed|keyboardinterrupt', 'cancelled', 'somebody stopped it', false),
  (35, 'treated as error', 'docs_source', 'a warning in the documents, where warnings are errors', false),
  (40, 'out of memory|memory consumption|memoryerror|cannot allocate memory|exit(ed)?( status| code)?:? 137|\moom\M', 'memory', 'killed for what it used', false),
  (50, 'timed? ?out|time limit|deadline exceeded', 'timeout', 'took too long', false),
  (60, 'no space left', 'infra', 'the disk was full', true),
  (70, 'unable to access|could not read (from remote|username)|repository not found|remote branch .* not found|pathspec|git clone|failed to import project|checkout failed|permission denied \(publickey|abort: |host key verification', 'vcs', 'the source could not be had', false),
  (80, 'no matching distribution|could not find a version|resolutionimpossible|dependency resolver|no module named|modulenotfounderror|importerror|failed building wheel|package .* (not found|is missing)', 'dependency', 'something it needs is missing, or clashes', false),
  (90, 'latex|pdftex|latexmk|xelatex|\.sty\M', 'latex_pdf', 'the PDF alone', false),
  (100, 'configuration (file )?(error|not found)|conf\.py|invalid configuration|yaml|programmable error', 'config', 'the project''s own settings', false),
  (110, 'treated as error|toctree|undefined label|unknown directive|severe:|docutils|contents\.rst|index\.rst', 'docs_source', 'the documents themselves', false);


-- Part 10: rights, and a schema for what names people

-- All who may use the schema must see whether it is current.
GRANT SELECT ON sync.definitions TO PUBLIC;

-- Views that name people are apart, so that a reader may have the others alone.
CREATE SCHEMA report_people;


-- Part 11: a sentence for each table and column; those of schema report are written by `docmirror migrate` too

COMMENT ON TABLE mirror.build_transitions IS 'One row for each state that a build was seen to enter. Rows are only added.';
COMMENT ON COLUMN mirror.build_transitions.build_id IS 'The build.';
COMMENT ON COLUMN mirror.build_transitions.seq IS 'The place in its life, from 1.';
COMMENT ON COLUMN mirror.build_transitions.from_state IS 'The state before; null at first sight.';
COMMENT ON COLUMN mirror.build_transitions.to_state IS 'The state that it entered, by the word of the service; vanished when it was gone.';
COMMENT ON COLUMN mirror.build_transitions.not_before IS 'It entered the state after this moment.';
COMMENT ON COLUMN mirror.build_transitions.not_after IS 'It entered the state before this moment, at which it was seen in it.';
COMMENT ON COLUMN mirror.build_transitions.anomaly IS 'What is odd about it: backward, no_date, future_date, repeated_hour, skipped_hour or clock; null where nothing is.';
COMMENT ON COLUMN mirror.build_transitions.run_id IS 'The run that first showed the state.';
COMMENT ON COLUMN mirror.build_transitions.request IS 'The request that first showed the state.';
COMMENT ON COLUMN mirror.build_transitions.asked_at IS 'When that request was sent.';
COMMENT ON COLUMN mirror.build_transitions.rule IS 'Where not_before comes from: last_seen, date, predecessor or unknown.';
COMMENT ON COLUMN mirror.build_transitions.previous_run_id IS 'The run that last showed the state before, where it set not_before.';
COMMENT ON COLUMN mirror.build_transitions.previous_request IS 'The request that last showed the state before, where it set not_before.';

COMMENT ON TABLE mirror.changes IS 'What changed in records after their first sight.';
COMMENT ON COLUMN mirror.changes.id IS 'The order of writing.';
COMMENT ON COLUMN mirror.changes.resource IS 'The resource, such as build.';
COMMENT ON COLUMN mirror.changes.record_id IS 'The id of the record.';
COMMENT ON COLUMN mirror.changes.run_id IS 'The run that saw the change.';
COMMENT ON COLUMN mirror.changes.observed_at IS 'When the reply arrived that showed it.';
COMMENT ON COLUMN mirror.changes.kind IS 'updated, deleted or restored.';
COMMENT ON COLUMN mirror.changes.before IS 'The changed fields as they were; texts of builds as md5 and bytes.';
COMMENT ON COLUMN mirror.changes.after IS 'The changed fields as they became.';

COMMENT ON TABLE mirror.unresolved_references IS 'References whose record is not here. A row goes when the record comes.';
COMMENT ON COLUMN mirror.unresolved_references.resource IS 'The resource of the record with the reference.';
COMMENT ON COLUMN mirror.unresolved_references.record_id IS 'The id of that record.';
COMMENT ON COLUMN mirror.unresolved_references.field IS 'The field with the reference.';
COMMENT ON COLUMN mirror.unresolved_references.position IS 'The place in a list, from 0; 0 in other fields.';
COMMENT ON COLUMN mirror.unresolved_references.uri IS 'The reference as sent.';
COMMENT ON COLUMN mirror.unresolved_references.status IS 'pending: not answered yet; gone: the service has no such record; foreign: it leads out of the API; malformed: it names no record.';
COMMENT ON COLUMN mirror.unresolved_references.checked_at IS 'When the service last answered.';
COMMENT ON COLUMN mirror.unresolved_references.asked_at IS 'When the service was last asked.';
COMMENT ON COLUMN mirror.unresolved_references.target_resource IS 'The resource that it names; null where it names none.';
COMMENT ON COLUMN mirror.unresolved_references.target_key IS 'The id or slug that it names; null where it names none.';

COMMENT ON TABLE mirror.file_anchors IS 'The index of the anchor search: the words of each anchor in mirror.file_contents.anchors.';
COMMENT ON COLUMN mirror.file_anchors.file_id IS 'The file.';
COMMENT ON COLUMN mirror.file_anchors.position IS 'The place in that list, from 0.';
COMMENT ON COLUMN mirror.file_anchors.search IS 'The words of the anchor.';

COMMENT ON TABLE mirror.file_contents IS 'The pages of the files, as docmirror sync --content last read them. A page is in the index of the searches exactly when search is not null.';
COMMENT ON COLUMN mirror.file_contents.file_id IS 'The file.';
COMMENT ON COLUMN mirror.file_contents.project_id IS 'The project of the file.';
COMMENT ON COLUMN mirror.file_contents.version IS 'The slug of the version that the address names; null where it names none.';
COMMENT ON COLUMN mirror.file_contents.absolute_url IS 'As the record had it when the page was last asked for.';
COMMENT ON COLUMN mirror.file_contents.docs_url IS 'The base of all pages at that time, without user and password.';
COMMENT ON COLUMN mirror.file_contents.url IS 'The requested address; null where absolute_url leads to another place, so that nothing was requested.';
COMMENT ON COLUMN mirror.file_contents.http_status IS 'The status of the last reply; null without one.';
COMMENT ON COLUMN mirror.file_contents.reason IS 'Why the last request gave no page; null where it gave one, or said that it is unchanged.';
COMMENT ON COLUMN mirror.file_contents.title IS 'The title of the page, at most 500 characters.';
COMMENT ON COLUMN mirror.file_contents.text IS 'The text that a reader sees, at most 400,000 characters.';
COMMENT ON COLUMN mirror.file_contents.anchors IS 'The places that a link can name: a list of {"id", "text"}, at most 2,000.';
COMMENT ON COLUMN mirror.file_contents.etag IS 'As sent with this content.';
COMMENT ON COLUMN mirror.file_contents.last_modified IS 'As sent with this content.';
COMMENT ON COLUMN mirror.file_contents.fetched_at IS 'When the reply with this content arrived.';
COMMENT ON COLUMN mirror.file_contents.asked_at IS 'When the page was last asked for, whatever the answer was.';
COMMENT ON COLUMN mirror.file_contents.asked_run_id IS 'The run that last asked.';
COMMENT ON COLUMN mirror.file_contents.changed_run_id IS 'The run that last changed the content.';
COMMENT ON COLUMN mirror.file_contents.content_hash IS 'The first 16 bytes of a hash of title, text and anchors.';
COMMENT ON COLUMN mirror.file_contents.title_key IS 'The words of the title in lower case, cut to 200 characters.';
COMMENT ON COLUMN mirror.file_contents.title_search IS 'The words of the title.';
COMMENT ON COLUMN mirror.file_contents.search IS 'The words of title (weight A) and text; null while the page is not in the index.';

COMMENT ON TABLE mirror.archived_logs IS 'Builds whose log was removed from build_logs, and where it is.';
COMMENT ON COLUMN mirror.archived_logs.build_id IS 'The build.';
COMMENT ON COLUMN mirror.archived_logs.file_id IS 'The file that holds the log.';
COMMENT ON COLUMN mirror.archived_logs.hash IS 'mirror.log_hash of its texts.';
COMMENT ON COLUMN mirror.archived_logs.error_line IS 'The line that said why the build failed; null where there was none.';
COMMENT ON COLUMN mirror.archived_logs.removed_at IS 'When it was removed.';

COMMENT ON TABLE mirror.build_logs IS 'The four long texts of a build.';
COMMENT ON COLUMN mirror.build_logs.build_id IS 'The build.';
COMMENT ON COLUMN mirror.build_logs.output IS 'What the build printed.';
COMMENT ON COLUMN mirror.build_logs.error IS 'What the build printed as errors.';
COMMENT ON COLUMN mirror.build_logs.setup IS 'What the step before it printed.';
COMMENT ON COLUMN mirror.build_logs.setup_error IS 'What the step before it printed as errors.';

COMMENT ON TABLE mirror.builds IS 'Builds; their texts are in build_logs, their states in build_transitions.';
COMMENT ON COLUMN mirror.builds.id IS 'The id of the record, as text.';
COMMENT ON COLUMN mirror.builds.resource_uri IS 'The path of the record itself, as sent.';
COMMENT ON COLUMN mirror.builds.date IS 'When it was triggered, as sent: without a zone; never a finish time.';
COMMENT ON COLUMN mirror.builds.state IS 'The state as last sent: triggered, building and finished are documented.';
COMMENT ON COLUMN mirror.builds.success IS 'Whether it succeeded: means something only when state is finished.';
COMMENT ON COLUMN mirror.builds.type IS 'The format: html, pdf, man or epub.';
COMMENT ON COLUMN mirror.builds.project_uri IS 'The reference to the project, as sent.';
COMMENT ON COLUMN mirror.builds.version_uri IS 'The reference to the version, as sent.';
COMMENT ON COLUMN mirror.builds.project_id IS 'The project; null while the mirror does not have that record.';
COMMENT ON COLUMN mirror.builds.version_id IS 'The version; null while the mirror does not have that record.';
COMMENT ON COLUMN mirror.builds.extra IS 'What the columns cannot hold: fields that are not documented or do not fit, and documented ones that were missing; null for a record that fits.';
COMMENT ON COLUMN mirror.builds.first_seen_at IS 'When the first reply with the record arrived.';
COMMENT ON COLUMN mirror.builds.changed_at IS 'When the reply arrived that last changed the row.';
COMMENT ON COLUMN mirror.builds.deleted_at IS 'When it was found deleted; null while it exists, and again when it returns.';
COMMENT ON COLUMN mirror.builds.record_hash IS 'A hash of the record as one version of the normalizer read it: equal for equal records.';
COMMENT ON COLUMN mirror.builds.first_seen_run_id IS 'The run that first saw it.';
COMMENT ON COLUMN mirror.builds.changed_run_id IS 'The run that last changed the row.';

COMMENT ON TABLE mirror.files IS 'Files: the pages of documentation that the service lists.';
COMMENT ON COLUMN mirror.files.id IS 'The id of the record, as text.';
COMMENT ON COLUMN mirror.files.resource_uri IS 'The path of the record itself, as sent.';
COMMENT ON COLUMN mirror.files.absolute_url IS 'The address of the page.';
COMMENT ON COLUMN mirror.files.name IS 'The name of the page.';
COMMENT ON COLUMN mirror.files.path IS 'Its path within the documentation.';
COMMENT ON COLUMN mirror.files.project_id IS 'The embedded project; null while the mirror does not have that record.';
COMMENT ON COLUMN mirror.files.extra IS 'What the columns cannot hold: fields that are not documented or do not fit, and documented ones that were missing; null for a record that fits.';
COMMENT ON COLUMN mirror.files.first_seen_at IS 'When the first reply with the record arrived.';
COMMENT ON COLUMN mirror.files.changed_at IS 'When the reply arrived that last changed the row.';
COMMENT ON COLUMN mirror.files.deleted_at IS 'When it was found deleted; null while it exists, and again when it returns.';
COMMENT ON COLUMN mirror.files.record_hash IS 'A hash of the record as one version of the normalizer read it: equal for equal records.';
COMMENT ON COLUMN mirror.files.first_seen_run_id IS 'The run that first saw it.';
COMMENT ON COLUMN mirror.files.changed_run_id IS 'The run that last changed the row.';

COMMENT ON TABLE mirror.log_files IS 'Files of exports that hold logs which were removed from build_logs.';
COMMENT ON COLUMN mirror.log_files.id IS 'The file.';
COMMENT ON COLUMN mirror.log_files.sha256 IS 'The SHA-256 of the file.';
COMMENT ON COLUMN mirror.log_files.folder IS 'The folder of the export, on the machine that removed the logs.';
COMMENT ON COLUMN mirror.log_files.path IS 'The path in that folder.';

COMMENT ON TABLE mirror.project_users IS 'The administrators of projects.';
COMMENT ON COLUMN mirror.project_users.project_id IS 'The project.';
COMMENT ON COLUMN mirror.project_users.position IS 'The place in the list of the project at first sight, from 0.';
COMMENT ON COLUMN mirror.project_users.user_uri IS 'The reference as sent.';
COMMENT ON COLUMN mirror.project_users.user_id IS 'The user; null while the mirror does not have that record.';

COMMENT ON TABLE mirror.projects IS 'Projects, as the service lists them, embeds them or answers for them.';
COMMENT ON COLUMN mirror.projects.id IS 'The id of the record, as text.';
COMMENT ON COLUMN mirror.projects.resource_uri IS 'The path of the record itself, as sent.';
COMMENT ON COLUMN mirror.projects.absolute_url IS 'The address of its documentation.';
COMMENT ON COLUMN mirror.projects.name IS 'The name of the project.';
COMMENT ON COLUMN mirror.projects.slug IS 'The name in addresses.';
COMMENT ON COLUMN mirror.projects.description IS 'A text about it.';
COMMENT ON COLUMN mirror.projects.analytics_code IS 'The code of a counter of visitors; may be empty.';
COMMENT ON COLUMN mirror.projects.copyright IS 'The copyright notice.';
COMMENT ON COLUMN mirror.projects.pkgindex_url IS 'The address of its package in an index; may be empty.';
COMMENT ON COLUMN mirror.projects.pkgdirectory_url IS 'The address of its packages; may be empty.';
COMMENT ON COLUMN mirror.projects.default_branch IS 'The branch that latest is built from; may be empty.';
COMMENT ON COLUMN mirror.projects.default_version IS 'The slug of the version that readers see first.';
COMMENT ON COLUMN mirror.projects.documentation_type IS 'The tool that builds it.';
COMMENT ON COLUMN mirror.projects.project_url IS 'The home of the project.';
COMMENT ON COLUMN mirror.projects.repo IS 'The address of its repository.';
COMMENT ON COLUMN mirror.projects.repo_type IS 'The kind of repository: git, hg, bzr or svn.';
COMMENT ON COLUMN mirror.projects.requirements_file IS 'The file of the packages that a build installs.';
COMMENT ON COLUMN mirror.projects.subdomain IS 'The address below which its documentation is.';
COMMENT ON COLUMN mirror.projects.suffix IS 'The ending of its source files.';
COMMENT ON COLUMN mirror.projects.theme IS 'The theme of its documentation.';
COMMENT ON COLUMN mirror.projects.use_virtualenv IS 'Whether it is built in a virtual environment.';
COMMENT ON COLUMN mirror.projects.modified_date IS 'When it last changed, as sent: without a zone.';
COMMENT ON COLUMN mirror.projects.pub_date IS 'When it was created, as sent: without a zone.';
COMMENT ON COLUMN mirror.projects.version IS 'Deprecated by the service, and empty.';
COMMENT ON COLUMN mirror.projects.source IS 'Where this copy came from: list, detail, or embedded in a version or file.';
COMMENT ON COLUMN mirror.projects.listed IS 'Whether the list ever showed it.';
COMMENT ON COLUMN mirror.projects.extra IS 'What the columns cannot hold: fields that are not documented or do not fit, and documented ones that were missing; null for a record that fits.';
COMMENT ON COLUMN mirror.projects.first_seen_at IS 'When the first reply with the record arrived.';
COMMENT ON COLUMN mirror.projects.changed_at IS 'When the reply arrived that last changed the row.';
COMMENT ON COLUMN mirror.projects.deleted_at IS 'When it was found deleted; null while it exists, and again when it returns.';
COMMENT ON COLUMN mirror.projects.record_hash IS 'A hash of the record as one version of the normalizer read it: equal for equal records.';
COMMENT ON COLUMN mirror.projects.first_seen_run_id IS 'The run that first saw it.';
COMMENT ON COLUMN mirror.projects.changed_run_id IS 'The run that last changed the row.';

COMMENT ON TABLE mirror.users IS 'Users, as the service lists them.';
COMMENT ON COLUMN mirror.users.id IS 'The id of the record, as text.';
COMMENT ON COLUMN mirror.users.resource_uri IS 'The path of the record itself, as sent.';
COMMENT ON COLUMN mirror.users.username IS 'The login name.';
COMMENT ON COLUMN mirror.users.first_name IS 'The first name; may be empty.';
COMMENT ON COLUMN mirror.users.last_name IS 'The last name; may be empty.';
COMMENT ON COLUMN mirror.users.last_login IS 'When the user last logged in, as sent: without a zone.';
COMMENT ON COLUMN mirror.users.extra IS 'What the columns cannot hold: fields that are not documented or do not fit, and documented ones that were missing; null for a record that fits.';
COMMENT ON COLUMN mirror.users.first_seen_at IS 'When the first reply with the record arrived.';
COMMENT ON COLUMN mirror.users.changed_at IS 'When the reply arrived that last changed the row.';
COMMENT ON COLUMN mirror.users.deleted_at IS 'When it was found deleted; null while it exists, and again when it returns.';
COMMENT ON COLUMN mirror.users.record_hash IS 'A hash of the record as one version of the normalizer read it: equal for equal records.';
COMMENT ON COLUMN mirror.users.first_seen_run_id IS 'The run that first saw it.';
COMMENT ON COLUMN mirror.users.changed_run_id IS 'The run that last changed the row.';

COMMENT ON TABLE mirror.versions IS 'Versions of projects.';
COMMENT ON COLUMN mirror.versions.id IS 'The id of the record, as text.';
COMMENT ON COLUMN mirror.versions.resource_uri IS 'The path of the record itself, as sent.';
COMMENT ON COLUMN mirror.versions.slug IS 'The name in addresses, unique within the project.';
COMMENT ON COLUMN mirror.versions.verbose_name IS 'The name as the repository spells it.';
COMMENT ON COLUMN mirror.versions.identifier IS 'The branch, tag or commit.';
COMMENT ON COLUMN mirror.versions.active IS 'Whether its documentation is kept up to date.';
COMMENT ON COLUMN mirror.versions.built IS 'Whether it was ever built, as the service says.';
COMMENT ON COLUMN mirror.versions.uploaded IS 'Whether its documentation was uploaded, not built.';
COMMENT ON COLUMN mirror.versions.project_id IS 'The embedded project; null while the mirror does not have that record.';
COMMENT ON COLUMN mirror.versions.extra IS 'What the columns cannot hold: fields that are not documented or do not fit, and documented ones that were missing; null for a record that fits.';
COMMENT ON COLUMN mirror.versions.first_seen_at IS 'When the first reply with the record arrived.';
COMMENT ON COLUMN mirror.versions.changed_at IS 'When the reply arrived that last changed the row.';
COMMENT ON COLUMN mirror.versions.deleted_at IS 'When it was found deleted; null while it exists, and again when it returns.';
COMMENT ON COLUMN mirror.versions.record_hash IS 'A hash of the record as one version of the normalizer read it: equal for equal records.';
COMMENT ON COLUMN mirror.versions.first_seen_run_id IS 'The run that first saw it.';
COMMENT ON COLUMN mirror.versions.changed_run_id IS 'The run that last changed the row.';

COMMENT ON TABLE sync.open_builds IS 'Builds that have not finished.';
COMMENT ON COLUMN sync.open_builds.build_id IS 'The build.';
COMMENT ON COLUMN sync.open_builds.since IS 'Since when it is known to be in this state.';
COMMENT ON COLUMN sync.open_builds.seen_at IS 'When it was last seen in it.';
COMMENT ON COLUMN sync.open_builds.run_id IS 'The run that last saw it.';
COMMENT ON COLUMN sync.open_builds.request IS 'The request that last showed it.';
COMMENT ON COLUMN sync.open_builds.asked_at IS 'When its detail was last asked for without a usable answer; null otherwise.';
COMMENT ON COLUMN sync.open_builds.vanished_at IS 'When its detail first answered 404 or 410; null otherwise.';

COMMENT ON TABLE sync.leader IS 'Which worker runs the schedule, in one row.';
COMMENT ON COLUMN sync.leader.id IS 'Always true: there is one row.';
COMMENT ON COLUMN sync.leader.term IS 'Counts takeovers.';
COMMENT ON COLUMN sync.leader.instance IS 'A random name of the process.';
COMMENT ON COLUMN sync.leader.pid IS 'The number of the process.';
COMMENT ON COLUMN sync.leader.host IS 'Its machine.';
COMMENT ON COLUMN sync.leader.backend_pid IS 'The session that has the lock.';
COMMENT ON COLUMN sync.leader.since IS 'When it took the lead.';
COMMENT ON COLUMN sync.leader.heartbeat_at IS 'When it last said that it leads, by the clock of Postgres.';
COMMENT ON COLUMN sync.leader.resigned_at IS 'When it ended its lead by itself; null otherwise.';

COMMENT ON TABLE sync.muted_projects IS 'Projects of which nothing is noted for a while.';
COMMENT ON COLUMN sync.muted_projects.project_slug IS 'The slug of the project.';
COMMENT ON COLUMN sync.muted_projects.until IS 'Until when.';
COMMENT ON COLUMN sync.muted_projects.muted_at IS 'When it was muted.';

COMMENT ON TABLE sync.notice_marks IS 'Up to where each source of notices was looked through.';
COMMENT ON COLUMN sync.notice_marks.source IS 'The source.';
COMMENT ON COLUMN sync.notice_marks.position IS 'The last place that was looked at.';
COMMENT ON COLUMN sync.notice_marks.marked_at IS 'When.';

COMMENT ON TABLE sync.notices IS 'The outbox of the webhook.';
COMMENT ON COLUMN sync.notices.id IS 'The order of writing.';
COMMENT ON COLUMN sync.notices.message_id IS 'The id of the message, the same in each try.';
COMMENT ON COLUMN sync.notices.subject IS 'What it is about; never twice.';
COMMENT ON COLUMN sync.notices.type IS 'The type of the notice, such as run.ended.';
COMMENT ON COLUMN sync.notices.data IS 'What is sent.';
COMMENT ON COLUMN sync.notices.noted_at IS 'When it was noted.';
COMMENT ON COLUMN sync.notices.tries IS 'How often it was sent.';
COMMENT ON COLUMN sync.notices.next_try_at IS 'When it is sent next.';
COMMENT ON COLUMN sync.notices.delivered_at IS 'When the receiver took it; null before.';
COMMENT ON COLUMN sync.notices.given_up_at IS 'When no more tries were made; null otherwise.';
COMMENT ON COLUMN sync.notices.error IS 'Why the last try failed; null where it did not.';

COMMENT ON TABLE sync.places IS 'Where this database was: the first run that ended there, and what tells the place from others.';
COMMENT ON COLUMN sync.places.run_id IS 'The first run that ended there.';
COMMENT ON COLUMN sync.places.place IS 'The server, its timeline, the database and the table sync.runs; each null where the server does not tell it.';
COMMENT ON COLUMN sync.places.noted_at IS 'When it was noted.';

COMMENT ON TABLE sync.definitions IS 'The views and functions of the reports that this database has: the hash of each, and the docmirror that defined it.';
COMMENT ON COLUMN sync.definitions.name IS 'The view or function, with its schema.';
COMMENT ON COLUMN sync.definitions.hash IS 'A hash of its text and of all that it builds on; empty where a migration made it.';
COMMENT ON COLUMN sync.definitions.version IS 'The version of docmirror that defined it.';
COMMENT ON COLUMN sync.definitions.defined_at IS 'When it was defined.';

COMMENT ON TABLE sync.drift IS 'Fields that came, went or changed type.';
COMMENT ON COLUMN sync.drift.id IS 'The order of writing.';
COMMENT ON COLUMN sync.drift.run_id IS 'The run that saw it.';
COMMENT ON COLUMN sync.drift.resource IS 'The resource.';
COMMENT ON COLUMN sync.drift.field IS 'The field.';
COMMENT ON COLUMN sync.drift.kind IS 'appeared, vanished or type_changed.';
COMMENT ON COLUMN sync.drift.detail IS 'What was there and what is.';
COMMENT ON COLUMN sync.drift.observed_at IS 'When it was seen.';

COMMENT ON TABLE sync.lists IS 'How many records each list has here.';
COMMENT ON COLUMN sync.lists.resource IS 'The resource.';
COMMENT ON COLUMN sync.lists.live IS 'Its records that are not deleted.';

COMMENT ON TABLE sync.missing_records IS 'Records that whole walks did not meet.';
COMMENT ON COLUMN sync.missing_records.resource IS 'The resource.';
COMMENT ON COLUMN sync.missing_records.record_id IS 'The id of the record.';
COMMENT ON COLUMN sync.missing_records.run_id IS 'The last run whose whole walk did not meet it.';
COMMENT ON COLUMN sync.missing_records.noticed_at IS 'When that was first noticed.';
COMMENT ON COLUMN sync.missing_records.asked_at IS 'When its detail was last asked for.';
COMMENT ON COLUMN sync.missing_records.found_at IS 'When its detail showed it; null where the detail did not when it was last asked.';
COMMENT ON COLUMN sync.missing_records.gone_at IS 'When its detail denied it too soon after its last sighting to count as deleted.';
COMMENT ON COLUMN sync.missing_records.undecided_runs IS 'How many runs in a row got answers that decide nothing.';

COMMENT ON TABLE sync.page_sizes IS 'The sizes of pages that the walks of lists found.';
COMMENT ON COLUMN sync.page_sizes.resource IS 'The resource.';
COMMENT ON COLUMN sync.page_sizes.page_size IS 'Records a page.';
COMMENT ON COLUMN sync.page_sizes.shrunk_at IS 'When it last became smaller; null where it never did.';
COMMENT ON COLUMN sync.page_sizes.service IS 'Always true: it belongs to the service in sync.service.';

COMMENT ON TABLE sync.pages IS 'The pages of the newest full walk of each list.';
COMMENT ON COLUMN sync.pages.resource IS 'The resource.';
COMMENT ON COLUMN sync.pages.seq IS 'The place of the page, from 0.';
COMMENT ON COLUMN sync.pages.request IS 'The request for it.';
COMMENT ON COLUMN sync.pages.body_hash IS 'A hash of its bytes.';
COMMENT ON COLUMN sync.pages.meta IS 'Its meta object, as sent.';
COMMENT ON COLUMN sync.pages.ids IS 'The ids of its records.';
COMMENT ON COLUMN sync.pages.loaded_at IS 'When it was loaded.';
COMMENT ON COLUMN sync.pages.run_id IS 'The run that loaded it.';
COMMENT ON COLUMN sync.pages.normalizer_version IS 'The version of the normalizer that read it.';

COMMENT ON TABLE sync.prunings IS 'What docmirror prune thinned out, one row for each time.';
COMMENT ON COLUMN sync.prunings.id IS 'The order of writing.';
COMMENT ON COLUMN sync.prunings.horizon IS 'Older changes and runs were removed.';
COMMENT ON COLUMN sync.prunings.pruned_at IS 'When.';
COMMENT ON COLUMN sync.prunings.changes IS 'How many changes were removed.';
COMMENT ON COLUMN sync.prunings.runs IS 'How many runs were removed.';

COMMENT ON TABLE sync.quarantine IS 'Records that could not be stored.';
COMMENT ON COLUMN sync.quarantine.id IS 'The order of writing.';
COMMENT ON COLUMN sync.quarantine.run_id IS 'The run that met it.';
COMMENT ON COLUMN sync.quarantine.resource IS 'The resource.';
COMMENT ON COLUMN sync.quarantine.record_id IS 'The id of the record; null where it has none.';
COMMENT ON COLUMN sync.quarantine.reason IS 'Why it could not be stored.';
COMMENT ON COLUMN sync.quarantine.payload IS 'The record as sent.';
COMMENT ON COLUMN sync.quarantine.request IS 'The request whose reply had it.';
COMMENT ON COLUMN sync.quarantine.created_at IS 'When it was put here.';
COMMENT ON COLUMN sync.quarantine.resolved_at IS 'When it was stored or dropped; null while it waits.';
COMMENT ON COLUMN sync.quarantine.list_offset IS 'The place in the list of a record that the service could not render; null for others.';

COMMENT ON TABLE sync.revisions IS 'How often the records of a resource have changed. Triggers count; a reply made from an equal revision is equal.';
COMMENT ON COLUMN sync.revisions.resource IS 'The resource.';
COMMENT ON COLUMN sync.revisions.revision IS 'Grows with each statement that changed a row.';
COMMENT ON COLUMN sync.revisions.changed_at IS 'When the newest of these changes was made, by the clock of the database.';

COMMENT ON TABLE sync.runs IS 'The runs: what each did, and how it ended.';
COMMENT ON COLUMN sync.runs.id IS 'The number of the run, which says what came first, because a clock may be wrong.';
COMMENT ON COLUMN sync.runs.kind IS 'What it was to do, such as full, incremental or watch.';
COMMENT ON COLUMN sync.runs.status IS 'How it ended, such as succeeded; running while it goes on.';
COMMENT ON COLUMN sync.runs.started_at IS 'When it began.';
COMMENT ON COLUMN sync.runs.finished_at IS 'When it ended; null while it goes on.';
COMMENT ON COLUMN sync.runs.heartbeat_at IS 'When it last said that it goes on: each 5 seconds.';
COMMENT ON COLUMN sync.runs.pid IS 'The number of the process.';
COMMENT ON COLUMN sync.runs.host IS 'Its machine.';
COMMENT ON COLUMN sync.runs.requests IS 'Requests sent, with retries.';
COMMENT ON COLUMN sync.runs.bytes IS 'Bytes received.';
COMMENT ON COLUMN sync.runs.replaced_nul IS 'Texts in which a character U+0000 was replaced.';
COMMENT ON COLUMN sync.runs.references_resolved IS 'References that found their record.';
COMMENT ON COLUMN sync.runs.references_unresolved IS 'References without their record at its end.';
COMMENT ON COLUMN sync.runs.transitions IS 'Transitions of builds that it stored.';
COMMENT ON COLUMN sync.runs.error IS 'What ended it early; null where nothing did.';
COMMENT ON COLUMN sync.runs.unfinished IS 'The work that it left.';
COMMENT ON COLUMN sync.runs.warnings IS 'What else it met.';
COMMENT ON COLUMN sync.runs.clock_ahead_min_ms IS 'How far the clock of the service was ahead of ours at least, in milliseconds; negative where it was behind; null where unknown.';
COMMENT ON COLUMN sync.runs.clock_ahead_max_ms IS 'How far it was ahead at most.';
COMMENT ON COLUMN sync.runs.rounds IS 'How many rounds of the watch that saw nothing this row stands for: its own, the last of them, and those before it within the hour; null for every other run.';
COMMENT ON COLUMN sync.runs.rounds_first_id IS 'The number of the first of those rounds.';
COMMENT ON COLUMN sync.runs.rounds_since IS 'When the first of those rounds began.';
COMMENT ON COLUMN sync.runs.rounds_requests IS 'The requests that all of them sent.';
COMMENT ON COLUMN sync.runs.rounds_bytes IS 'The bytes that all of them received.';

COMMENT ON TABLE sync.service IS 'The one service that this database mirrors.';
COMMENT ON COLUMN sync.service.id IS 'Always true: there is one row.';
COMMENT ON COLUMN sync.service.base_url IS 'The address of the service.';
COMMENT ON COLUMN sync.service.resources IS 'The resources of its root listing.';
COMMENT ON COLUMN sync.service.noted_at IS 'When it was noted.';

COMMENT ON TABLE sync.touched_records IS 'Projects, versions and builds that changed since the last refresh of the reports. Triggers write it in the transaction of the change.';
COMMENT ON COLUMN sync.touched_records.resource IS 'project, version or build.';
COMMENT ON COLUMN sync.touched_records.record_id IS 'Null: any record of the resource may have changed.';

COMMENT ON TABLE sync.upstream_schemas IS 'The replies of the schema endpoints, each once.';
COMMENT ON COLUMN sync.upstream_schemas.resource IS 'The resource.';
COMMENT ON COLUMN sync.upstream_schemas.body_hash IS 'A hash of the reply.';
COMMENT ON COLUMN sync.upstream_schemas.body IS 'The reply.';
COMMENT ON COLUMN sync.upstream_schemas.first_seen_at IS 'When it first came.';
COMMENT ON COLUMN sync.upstream_schemas.run_id IS 'The run that first got it.';

COMMENT ON TABLE sync.walks IS 'The lists that each run walked.';
COMMENT ON COLUMN sync.walks.run_id IS 'The run.';
COMMENT ON COLUMN sync.walks.resource IS 'The resource.';
COMMENT ON COLUMN sync.walks.walk IS 'How it ended: whole, head or not_whole; null while it goes on.';
COMMENT ON COLUMN sync.walks.reason IS 'Why it is not whole, or why its deletions are held back; null otherwise.';
COMMENT ON COLUMN sync.walks.started_at IS 'When it began, in an earlier run where it was resumed.';
COMMENT ON COLUMN sync.walks.finished_at IS 'When it ended; null while it goes on.';
COMMENT ON COLUMN sync.walks.pages IS 'Replies with a page.';
COMMENT ON COLUMN sync.walks.records IS 'Distinct ids in them.';
COMMENT ON COLUMN sync.walks.inserted IS 'Records that were new.';
COMMENT ON COLUMN sync.walks.updated IS 'Records that changed.';
COMMENT ON COLUMN sync.walks.unchanged IS 'Records that were as before.';
COMMENT ON COLUMN sync.walks.deleted IS 'Records that were found deleted.';
COMMENT ON COLUMN sync.walks.restored IS 'Deleted records that returned.';
COMMENT ON COLUMN sync.walks.quarantined IS 'Records that could not be stored.';
COMMENT ON COLUMN sync.walks.total_count IS 'The count that the last page said.';
COMMENT ON COLUMN sync.walks.began_run_id IS 'The run that began it.';
COMMENT ON COLUMN sync.walks.unstored IS 'Records of the newest whole walk that could not be stored; of a walk that is not whole, those in quarantine.';
COMMENT ON COLUMN sync.walks.deficit IS 'How many records more the service counted than its list showed and the mirror has; null where that was not compared.';
COMMENT ON COLUMN sync.walks.is_good IS 'Whether it was whole, or a head whose deficit is unstored.';
COMMENT ON COLUMN sync.walks.read_from IS 'The walk read the builds dated before this again, as its share of a round; infinity at the begin of a round; null without a share.';
COMMENT ON COLUMN sync.walks.read_to IS 'The walk read the builds dated after this again; -infinity at the end of a round; null without a share.';
COMMENT ON COLUMN sync.walks.read_since IS 'Since when every build was read at least once, after the share of this walk; null without a share.';
COMMENT ON COLUMN sync.walks.checkpoint IS 'Where a later run resumes; null at the end.';
COMMENT ON COLUMN sync.walks.checkpoint_at IS 'When the checkpoint was written.';

CREATE SCHEMA "mirror";
--> statement-breakpoint
CREATE SCHEMA "sync";
--> statement-breakpoint
CREATE TABLE "mirror"."build_logs" (
	"build_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"output" text,
	"error" text,
	"setup" text,
	"setup_error" text
);
--> statement-breakpoint
CREATE TABLE "mirror"."build_transitions" (
	"build_id" text COLLATE "C" NOT NULL,
	"seq" integer NOT NULL,
	"from_state" text,
	"to_state" text,
	"not_before" timestamp(6) with time zone NOT NULL,
	"not_after" timestamp(6) with time zone NOT NULL,
	"anomaly" text,
	"run_id" bigint NOT NULL,
	CONSTRAINT "build_transitions_build_id_seq_pk" PRIMARY KEY("build_id","seq")
);
--> statement-breakpoint
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
	"record_hash" "bytea" NOT NULL
);
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "mirror"."unresolved_references" (
	"resource" text NOT NULL,
	"record_id" text COLLATE "C" NOT NULL,
	"field" text NOT NULL,
	"position" integer NOT NULL,
	"uri" text NOT NULL,
	"status" text NOT NULL,
	"checked_at" timestamp(6) with time zone,
	"target_resource" text,
	"target_key" text,
	CONSTRAINT "unresolved_references_resource_record_id_field_position_pk" PRIMARY KEY("resource","record_id","field","position")
);
--> statement-breakpoint
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
	"record_hash" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mirror"."project_users" (
	"project_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"user_uri" text,
	"user_id" text COLLATE "C",
	CONSTRAINT "project_users_project_id_position_pk" PRIMARY KEY("project_id","position")
);
--> statement-breakpoint
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
	"record_hash" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync"."drift" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."drift_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" bigint NOT NULL,
	"resource" text NOT NULL,
	"field" text NOT NULL,
	"kind" text NOT NULL,
	"detail" text,
	"observed_at" timestamp(6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync"."pages" (
	"resource" text NOT NULL,
	"seq" integer NOT NULL,
	"request" text NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"meta" jsonb NOT NULL,
	"ids" text[] NOT NULL,
	"loaded_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "pages_resource_seq_pk" PRIMARY KEY("resource","seq")
);
--> statement-breakpoint
CREATE TABLE "sync"."quarantine" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."quarantine_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" bigint NOT NULL,
	"resource" text NOT NULL,
	"record_id" text,
	"reason" text NOT NULL,
	"payload" jsonb,
	"request" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	"resolved_at" timestamp(6) with time zone
);
--> statement-breakpoint
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
	"error" text
);
--> statement-breakpoint
CREATE TABLE "sync"."upstream_schemas" (
	"resource" text NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"body" jsonb NOT NULL,
	"first_seen_at" timestamp(6) with time zone NOT NULL,
	"run_id" bigint NOT NULL,
	CONSTRAINT "upstream_schemas_resource_body_hash_pk" PRIMARY KEY("resource","body_hash")
);
--> statement-breakpoint
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
	"checkpoint" jsonb,
	"checkpoint_at" timestamp(6) with time zone,
	CONSTRAINT "walks_run_id_resource_pk" PRIMARY KEY("run_id","resource")
);
--> statement-breakpoint
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
	"record_hash" "bytea" NOT NULL
);
--> statement-breakpoint
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
	"record_hash" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "mirror"."build_logs" ADD CONSTRAINT "build_logs_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "mirror"."builds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."build_transitions" ADD CONSTRAINT "build_transitions_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "mirror"."builds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."builds" ADD CONSTRAINT "builds_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."builds" ADD CONSTRAINT "builds_version_id_versions_id_fk" FOREIGN KEY ("version_id") REFERENCES "mirror"."versions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."files" ADD CONSTRAINT "files_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."project_users" ADD CONSTRAINT "project_users_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."project_users" ADD CONSTRAINT "project_users_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "mirror"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD CONSTRAINT "walks_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "sync"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."versions" ADD CONSTRAINT "versions_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "builds_project_id" ON "mirror"."builds" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "builds_version_id" ON "mirror"."builds" USING btree ("version_id");--> statement-breakpoint
CREATE INDEX "builds_open" ON "mirror"."builds" USING btree ("id") WHERE state is distinct from 'finished' and deleted_at is null;--> statement-breakpoint
CREATE INDEX "changes_record" ON "mirror"."changes" USING btree ("resource","record_id","id");--> statement-breakpoint
CREATE INDEX "files_project_id" ON "mirror"."files" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "project_users_user_id" ON "mirror"."project_users" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "projects_slug" ON "mirror"."projects" USING hash ("slug");--> statement-breakpoint
CREATE INDEX "drift_resource" ON "sync"."drift" USING btree ("resource","id");--> statement-breakpoint
CREATE INDEX "quarantine_resource" ON "sync"."quarantine" USING btree ("resource","id");--> statement-breakpoint
CREATE INDEX "versions_project_id" ON "mirror"."versions" USING btree ("project_id");
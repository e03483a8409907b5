-- not additive: an older program finds no error line in a log that was removed
CREATE TABLE "mirror"."log_files" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "mirror"."log_files_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"sha256" "bytea" NOT NULL,
	"folder" text NOT NULL,
	"path" text NOT NULL,
	CONSTRAINT "log_files_sha256_unique" UNIQUE("sha256")
);
--> statement-breakpoint
CREATE TABLE "mirror"."archived_logs" (
	"build_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"file_id" bigint NOT NULL,
	"hash" "bytea" NOT NULL,
	"error_line" text,
	"removed_at" timestamp(6) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "mirror"."archived_logs" ADD CONSTRAINT "archived_logs_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "mirror"."builds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."archived_logs" ADD CONSTRAINT "archived_logs_file_id_log_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "mirror"."log_files"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
-- The build is served without its texts from then on.
CREATE TRIGGER "count_insert" AFTER INSERT ON "mirror"."archived_logs" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('build');--> statement-breakpoint
-- Of the hashes of the texts, so that no two logs are one text: DuckDB computes it from its files in the same way.
CREATE FUNCTION "mirror"."log_hash"("output" text, "error" text, "setup" text, "setup_error" text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT sha256(convert_to(
    coalesce(encode(sha256(convert_to(output, 'UTF8')), 'hex'), '-') || coalesce(encode(sha256(convert_to(error, 'UTF8')), 'hex'), '-')
    || coalesce(encode(sha256(convert_to(setup, 'UTF8')), 'hex'), '-') || coalesce(encode(sha256(convert_to(setup_error, 'UTF8')), 'hex'), '-'),
    'UTF8'))
$$;--> statement-breakpoint
COMMENT ON FUNCTION "mirror"."log_hash"(text, text, text, text) IS 'A hash of the four texts of a log: the SHA-256 of their SHA-256 in hex, one after the other, a dash for a null.';--> statement-breakpoint
COMMENT ON TABLE "mirror"."log_files" IS 'Files of exports that hold logs which were removed from build_logs.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."log_files"."id" IS 'The file.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."log_files"."sha256" IS 'The SHA-256 of the file.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."log_files"."folder" IS 'The folder of the export, on the machine that removed the logs.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."log_files"."path" IS 'The path in that folder.';--> statement-breakpoint
COMMENT ON TABLE "mirror"."archived_logs" IS 'Builds whose log was removed from build_logs, and where it is.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."archived_logs"."build_id" IS 'The build.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."archived_logs"."file_id" IS 'The file that holds the log.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."archived_logs"."hash" IS 'mirror.log_hash of its texts.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."archived_logs"."error_line" IS 'The line that said why the build failed; null where there was none.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."archived_logs"."removed_at" IS 'When it was removed.';

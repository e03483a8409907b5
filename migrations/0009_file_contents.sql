CREATE TABLE "mirror"."file_anchors" (
	"file_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"search" "tsvector" NOT NULL,
	CONSTRAINT "file_anchors_file_id_position_pk" PRIMARY KEY("file_id","position")
);
--> statement-breakpoint
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
--> statement-breakpoint
ALTER TABLE "mirror"."file_anchors" ADD CONSTRAINT "file_anchors_file_id_file_contents_file_id_fk" FOREIGN KEY ("file_id") REFERENCES "mirror"."file_contents"("file_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."file_contents" ADD CONSTRAINT "file_contents_file_id_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "mirror"."files"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."file_contents" ADD CONSTRAINT "file_contents_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "mirror"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "file_anchors_search" ON "mirror"."file_anchors" USING gin ("search") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "file_contents_search" ON "mirror"."file_contents" USING gin ("search") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "file_contents_project_id" ON "mirror"."file_contents" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "files_deleted" ON "mirror"."files" USING btree ("id") WHERE deleted_at is not null;--> statement-breakpoint
-- A search for a common word reads many rows of the table, so the long values lie outside of it.
ALTER TABLE "mirror"."file_contents" SET (toast_tuple_target = 512);--> statement-breakpoint
-- lz4 unpacks texts several times as fast. A server may be built without it; then the table stays as it is.
DO $$
BEGIN
  IF 'lz4' = ANY (SELECT unnest(enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
    ALTER TABLE mirror.file_contents
      ALTER COLUMN text SET COMPRESSION lz4,
      ALTER COLUMN anchors SET COMPRESSION lz4,
      ALTER COLUMN search SET COMPRESSION lz4;
  END IF;
END
$$;--> statement-breakpoint
COMMENT ON TABLE "mirror"."file_contents" IS 'The pages of the files, as docmirror sync --content last read them. A page is in the index of the searches exactly when search is not null.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."project_id" IS 'The project of the file.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."version" IS 'The slug of the version that the address names; null where it names none.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."absolute_url" IS 'As the record had it when the page was last asked for.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."docs_url" IS 'The base of all pages at that time, without user and password.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."url" IS 'The requested address; null where absolute_url leads to another place, so that nothing was requested.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."http_status" IS 'The status of the last reply; null without one.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."reason" IS 'Why the last request gave no page; null where it gave one, or said that it is unchanged.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."title" IS 'The title of the page, at most 500 characters.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."text" IS 'The text that a reader sees, at most 400,000 characters.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."anchors" IS 'The places that a link can name: a list of {"id", "text"}, at most 2,000.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."etag" IS 'As sent with this content.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."last_modified" IS 'As sent with this content.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."fetched_at" IS 'When the reply with this content arrived.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."asked_at" IS 'When the page was last asked for, whatever the answer was.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."asked_run_id" IS 'The run that last asked.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."changed_run_id" IS 'The run that last changed the content.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."content_hash" IS 'The first 16 bytes of a hash of title, text and anchors.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."title_key" IS 'The words of the title in lower case, cut to 200 characters.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."title_search" IS 'The words of the title.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_contents"."search" IS 'The words of title (weight A) and text; null while the page is not in the index.';--> statement-breakpoint
COMMENT ON TABLE "mirror"."file_anchors" IS 'The index of the anchor search: the words of each anchor in mirror.file_contents.anchors.';--> statement-breakpoint
COMMENT ON COLUMN "mirror"."file_anchors"."position" IS 'The place in that list, from 0.';

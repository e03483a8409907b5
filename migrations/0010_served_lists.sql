CREATE TABLE "sync"."revisions" (
	"resource" text PRIMARY KEY NOT NULL,
	"revision" bigint NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "builds_list" ON "mirror"."builds" USING btree (coalesce(date, 'infinity'::timestamp) desc,length("id"),"id") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "files_list" ON "mirror"."files" USING btree (length("id"),"id") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "projects_list" ON "mirror"."projects" USING btree (left(coalesce(slug, ''), 300) collate "C",length("id"),"id") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "users_list" ON "mirror"."users" USING btree (length("id"),"id") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "versions_list" ON "mirror"."versions" USING btree (left(coalesce(verbose_name, ''), 300) collate "C" desc,length("id"),"id") WHERE deleted_at is null;--> statement-breakpoint
COMMENT ON TABLE "sync"."revisions" IS 'How often the records of a resource have changed. Triggers count; a reply made from an equal revision is equal.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."revisions"."resource" IS 'The resource.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."revisions"."revision" IS 'Grows with each statement that changed a row.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."revisions"."changed_at" IS 'When the newest of these changes was made, by the clock of the database.';--> statement-breakpoint
-- A trigger for each event: one with a transition table can have only one. Without that table a statement
-- that changed no row would count too.
CREATE FUNCTION "sync"."count_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM changed) THEN
    INSERT INTO sync.revisions AS known (resource, revision, changed_at) VALUES (tg_argv[0], 1, now())
    ON CONFLICT (resource) DO UPDATE SET revision = known.revision + 1, changed_at = excluded.changed_at;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "count_insert" AFTER INSERT ON "mirror"."users" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('user');--> statement-breakpoint
CREATE TRIGGER "count_update" AFTER UPDATE ON "mirror"."users" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('user');--> statement-breakpoint
CREATE TRIGGER "count_delete" AFTER DELETE ON "mirror"."users" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('user');--> statement-breakpoint
CREATE TRIGGER "count_insert" AFTER INSERT ON "mirror"."projects" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');--> statement-breakpoint
CREATE TRIGGER "count_update" AFTER UPDATE ON "mirror"."projects" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');--> statement-breakpoint
CREATE TRIGGER "count_delete" AFTER DELETE ON "mirror"."projects" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');--> statement-breakpoint
CREATE TRIGGER "count_insert" AFTER INSERT ON "mirror"."versions" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('version');--> statement-breakpoint
CREATE TRIGGER "count_update" AFTER UPDATE ON "mirror"."versions" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('version');--> statement-breakpoint
CREATE TRIGGER "count_delete" AFTER DELETE ON "mirror"."versions" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('version');--> statement-breakpoint
CREATE TRIGGER "count_insert" AFTER INSERT ON "mirror"."files" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('file');--> statement-breakpoint
CREATE TRIGGER "count_update" AFTER UPDATE ON "mirror"."files" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('file');--> statement-breakpoint
CREATE TRIGGER "count_delete" AFTER DELETE ON "mirror"."files" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('file');--> statement-breakpoint
CREATE TRIGGER "count_insert" AFTER INSERT ON "mirror"."builds" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('build');--> statement-breakpoint
CREATE TRIGGER "count_update" AFTER UPDATE ON "mirror"."builds" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('build');--> statement-breakpoint
CREATE TRIGGER "count_delete" AFTER DELETE ON "mirror"."builds" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('build');--> statement-breakpoint
-- A reference that is resolved later changes this table alone.
CREATE TRIGGER "count_insert" AFTER INSERT ON "mirror"."project_users" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');--> statement-breakpoint
CREATE TRIGGER "count_update" AFTER UPDATE ON "mirror"."project_users" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');--> statement-breakpoint
CREATE TRIGGER "count_delete" AFTER DELETE ON "mirror"."project_users" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_change('project');--> statement-breakpoint
-- A list does not show the records that are missing from it.
CREATE FUNCTION "sync"."count_missing"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sync.revisions AS known (resource, revision, changed_at)
  SELECT DISTINCT resource, 1, now() FROM changed
  ON CONFLICT (resource) DO UPDATE SET revision = known.revision + 1, changed_at = excluded.changed_at;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "count_insert" AFTER INSERT ON "sync"."missing_records" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_missing();--> statement-breakpoint
CREATE TRIGGER "count_delete" AFTER DELETE ON "sync"."missing_records" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.count_missing();

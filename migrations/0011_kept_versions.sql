-- additive: a table that older programs do not read. They write nothing there either, so what they load meanwhile keeps no version
CREATE TABLE "mirror"."kept_versions" (
	"build_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"version_id" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE INDEX "kept_versions_version_id" ON "mirror"."kept_versions" USING btree ("version_id");
--> statement-breakpoint
-- The builds that lost their version before this table was there: the last version that the history knows of each.
INSERT INTO "mirror"."kept_versions" (build_id, version_id)
SELECT DISTINCT ON (change.record_id) change.record_id, version.id
FROM mirror.changes AS change
JOIN mirror.builds AS build ON build.id = change.record_id AND build.version_id IS NULL
JOIN mirror.versions AS version ON version.id = change.before ->> 'version_id'
WHERE change.resource = 'build' AND change.kind = 'updated'
ORDER BY change.record_id, change.id DESC;
--> statement-breakpoint
COMMENT ON TABLE mirror.kept_versions IS 'The versions that builds had when the service sent null in their place, as it does once a version is deleted.';
COMMENT ON COLUMN mirror.kept_versions.build_id IS 'The build.';
COMMENT ON COLUMN mirror.kept_versions.version_id IS 'The version that it had last. The reports count the build there while that version is deleted.';

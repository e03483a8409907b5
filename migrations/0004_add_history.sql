CREATE TABLE "sync"."prunings" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."prunings_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"horizon" timestamp(6) with time zone NOT NULL,
	"pruned_at" timestamp(6) with time zone NOT NULL,
	"changes" bigint DEFAULT 0 NOT NULL,
	"runs" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX "changes_observed" ON "mirror"."changes" USING btree ("resource","observed_at");--> statement-breakpoint
COMMENT ON TABLE "sync"."prunings" IS 'What docmirror prune thinned out, one row for each time.';--> statement-breakpoint
-- Written over rows from the newest change to the oldest, it gives at each of them what the changes behind it undo; each row costs the same,
-- since a window that only grows goes on from what it has.
CREATE AGGREGATE "mirror"."merge_objects" (jsonb) (SFUNC = jsonb_concat, STYPE = jsonb, INITCOND = '{}', PARALLEL = SAFE);
--> statement-breakpoint
COMMENT ON AGGREGATE "mirror"."merge_objects" (jsonb) IS 'One object of many, in the order of the rows: of a field that several have, the last one counts. Nulls are passed over.';
--> statement-breakpoint
CREATE FUNCTION "mirror"."history_begins_at"() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT coalesce(max(horizon), '-infinity') FROM sync.prunings WHERE changes > 0
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "mirror"."history_begins_at"() IS 'The moment from which on the mirror can be looked back at: older changes were pruned. -infinity while none were.';
--> statement-breakpoint
CREATE FUNCTION "mirror"."assert_known_at"("moment" timestamptz) RETURNS boolean
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
--> statement-breakpoint
COMMENT ON FUNCTION "mirror"."assert_known_at"(timestamptz) IS 'True; raises an error for a moment whose changes were pruned.';
--> statement-breakpoint
-- A change is known since it was observed, and not before the changes that were written before it: of pages that come at once, one that
-- was here earlier may be stored later. So all changes of a record count from the first on that was observed after the moment.
CREATE FUNCTION "mirror"."changes_since"("of_resource" text, "moment" timestamptz)
RETURNS TABLE ("record_id" text, "before" jsonb, "turn" text, "deleted_at" timestamptz)
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
--> statement-breakpoint
COMMENT ON FUNCTION "mirror"."changes_since"(text, timestamptz) IS 'For each record of a resource that changed after a moment: the fields as they were then, whether it was deleted or restored first since, and for one that was restored, since when it had been deleted.';
--> statement-breakpoint
-- Types rather than RETURNS TABLE: only they keep the collation of the ids, without which a search by id would find no index.
CREATE TYPE "mirror"."project_as_of" AS (
  "id" text COLLATE "C", "resource_uri" text, "absolute_url" text, "name" text, "slug" text, "description" text,
  "analytics_code" text, "copyright" text, "pkgindex_url" text, "pkgdirectory_url" text, "default_branch" text,
  "default_version" text, "documentation_type" text, "project_url" text, "repo" text, "repo_type" text,
  "requirements_file" text, "subdomain" text, "suffix" text, "theme" text, "use_virtualenv" boolean,
  "modified_date" timestamp(6), "pub_date" timestamp(6), "version" text, "users" jsonb,
  "extra" jsonb, "first_seen_at" timestamptz(6), "deleted_at" timestamptz(6)
);
--> statement-breakpoint
COMMENT ON TYPE "mirror"."project_as_of" IS 'A project as mirror.projects_as_of gives it.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."project_as_of"."users" IS 'The URIs of its administrators, in the order of the record.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."project_as_of"."deleted_at" IS 'As known then: null before the deletion was seen, and again once the project was back.';
--> statement-breakpoint
CREATE FUNCTION "mirror"."projects_as_of"("moment" timestamptz) RETURNS SETOF "mirror"."project_as_of"
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
--> statement-breakpoint
COMMENT ON FUNCTION "mirror"."projects_as_of"(timestamptz) IS 'The projects as the mirror knew them at a moment, those that were deleted by then too. Raises an error for a moment whose changes were pruned.';
--> statement-breakpoint
CREATE TYPE "mirror"."version_as_of" AS (
  "id" text COLLATE "C", "resource_uri" text, "slug" text, "verbose_name" text, "identifier" text, "active" boolean,
  "built" boolean, "uploaded" boolean, "project_id" text COLLATE "C",
  "extra" jsonb, "first_seen_at" timestamptz(6), "deleted_at" timestamptz(6)
);
--> statement-breakpoint
COMMENT ON TYPE "mirror"."version_as_of" IS 'A version as mirror.versions_as_of gives it.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."version_as_of"."project_id" IS 'Null while that project was not here.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."version_as_of"."deleted_at" IS 'As known then: null before the deletion was seen, and again once the version was back.';
--> statement-breakpoint
CREATE FUNCTION "mirror"."versions_as_of"("moment" timestamptz) RETURNS SETOF "mirror"."version_as_of"
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
--> statement-breakpoint
COMMENT ON FUNCTION "mirror"."versions_as_of"(timestamptz) IS 'The versions as the mirror knew them at a moment, those that were deleted by then too. Raises an error for a moment whose changes were pruned.';
--> statement-breakpoint
CREATE TYPE "mirror"."build_as_of" AS (
  "id" text COLLATE "C", "resource_uri" text, "date" timestamp(6), "state" text, "success" boolean, "type" text,
  "project_uri" text, "version_uri" text, "project_id" text COLLATE "C", "version_id" text COLLATE "C",
  "extra" jsonb, "first_seen_at" timestamptz(6), "deleted_at" timestamptz(6)
);
--> statement-breakpoint
COMMENT ON TYPE "mirror"."build_as_of" IS 'A build as mirror.builds_as_of gives it. Its texts are not among it: changes keep them by hash alone.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."build_as_of"."project_id" IS 'Null while that project was not here.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."build_as_of"."version_id" IS 'Null while that version was not here.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."build_as_of"."deleted_at" IS 'As known then: null before the deletion was seen, and again once the build was back.';
--> statement-breakpoint
CREATE FUNCTION "mirror"."builds_as_of"("moment" timestamptz) RETURNS SETOF "mirror"."build_as_of"
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
--> statement-breakpoint
COMMENT ON FUNCTION "mirror"."builds_as_of"(timestamptz) IS 'The builds as the mirror knew them at a moment, those that were deleted by then too, without their texts. Raises an error for a moment whose changes were pruned.';
--> statement-breakpoint
-- A record begins with its first sight, and each change ends one state and begins another. What a state held is the row of today with
-- all later changes undone. A change counts from when it was observed, and not before those that were written before it.
CREATE VIEW "mirror"."record_states" AS
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
--> statement-breakpoint
COMMENT ON VIEW "mirror"."record_states" IS 'The states that projects and versions were in, with what is to be undone of the row of today; the history views give it in columns.';
--> statement-breakpoint
CREATE VIEW "mirror"."project_history" AS
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
--> statement-breakpoint
COMMENT ON VIEW "mirror"."project_history" IS 'Each state that a project was seen in: from its first sight, a change or a return until the next change or its deletion.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."project_history"."users" IS 'The URIs of its administrators, in the order of the record.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."project_history"."valid_from" IS 'When the state was first seen.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."project_history"."valid_to" IS 'When another state, or the deletion, was first seen; null: it is the state of now.';
--> statement-breakpoint
CREATE VIEW "mirror"."version_history" AS
SELECT
  version.id, was.resource_uri, was.slug, was.verbose_name, was.identifier, was.active, was.built, was.uploaded, was.project_id,
  was.extra, state.valid_from, state.valid_to
FROM mirror.record_states AS state
JOIN mirror.versions AS version ON version.id = state.record_id
CROSS JOIN LATERAL jsonb_populate_record(version, state.since) AS was
WHERE state.resource = 'version';
--> statement-breakpoint
COMMENT ON VIEW "mirror"."version_history" IS 'Each state that a version was seen in: from its first sight, a change or a return until the next change or its deletion.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."version_history"."valid_from" IS 'When the state was first seen.';
--> statement-breakpoint
COMMENT ON COLUMN "mirror"."version_history"."valid_to" IS 'When another state, or the deletion, was first seen; null: it is the state of now.';

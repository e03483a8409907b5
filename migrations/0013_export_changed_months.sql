CREATE TABLE "rollup"."fact_months" (
	"month" text PRIMARY KEY NOT NULL,
	"revision" uuid NOT NULL
);
--> statement-breakpoint
INSERT INTO "rollup"."fact_months"
SELECT month, gen_random_uuid()
FROM (SELECT DISTINCT coalesce(to_char(triggered_on, 'YYYY-MM'), '') AS month FROM rollup.builds) AS known;--> statement-breakpoint
-- Most statements touch few days, so days are made distinct before they become months. A build that moves counts
-- for the month it leaves too.
CREATE FUNCTION "sync"."note_fact_months"() RETURNS trigger LANGUAGE plpgsql AS $$
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
$$;--> statement-breakpoint
CREATE TRIGGER "note_insert" AFTER INSERT ON "rollup"."builds" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_fact_months();--> statement-breakpoint
CREATE TRIGGER "note_update" AFTER UPDATE ON "rollup"."builds" REFERENCING OLD TABLE AS before NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_fact_months();--> statement-breakpoint
CREATE TRIGGER "note_delete" AFTER DELETE ON "rollup"."builds" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_fact_months();--> statement-breakpoint
CREATE FUNCTION "sync"."note_all_fact_months"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE rollup.fact_months SET revision = gen_random_uuid();
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "note_truncate" AFTER TRUNCATE ON "rollup"."builds"
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_all_fact_months();--> statement-breakpoint
-- report.fact_builds shows these names beside the facts. Most changes are no new names; then no fact is read.
CREATE FUNCTION "sync"."note_renamed_projects"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  renamed text[] := (
    SELECT array_agg(project_id) FROM before JOIN changed USING (project_id)
    WHERE (before.project_slug, before.project_name) IS DISTINCT FROM (changed.project_slug, changed.project_name)
  );
BEGIN
  IF renamed IS NOT NULL THEN
    INSERT INTO rollup.fact_months
    SELECT month, gen_random_uuid() FROM (
      SELECT DISTINCT coalesce(to_char(triggered_on, 'YYYY-MM'), '') AS month FROM rollup.builds WHERE project_id = ANY (renamed)
    ) AS touched ORDER BY month
    ON CONFLICT (month) DO UPDATE SET revision = excluded.revision;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "note_update" AFTER UPDATE ON "report"."dim_projects" REFERENCING OLD TABLE AS before NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_renamed_projects();--> statement-breakpoint
-- Builds have no index by version, but one by project. A build that the series do not know yet has changed itself.
CREATE FUNCTION "sync"."note_renamed_versions"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  renamed text[] := (
    SELECT array_agg(version_id) FROM before JOIN changed USING (version_id)
    WHERE (before.version_slug, before.version_name) IS DISTINCT FROM (changed.version_slug, changed.version_name)
  );
BEGIN
  IF renamed IS NOT NULL THEN
    INSERT INTO rollup.fact_months
    SELECT month, gen_random_uuid() FROM (
      SELECT DISTINCT coalesce(to_char(triggered_on, 'YYYY-MM'), '') AS month FROM rollup.builds
      WHERE project_id = ANY (ARRAY(SELECT project_id FROM rollup.series WHERE version_id = ANY (renamed)))
        AND version_id = ANY (renamed)
    ) AS touched ORDER BY month
    ON CONFLICT (month) DO UPDATE SET revision = excluded.revision;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "note_update" AFTER UPDATE ON "report"."dim_versions" REFERENCING OLD TABLE AS before NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION sync.note_renamed_versions();

-- not additive: it replaces two functions of triggers, though an older program writes as before
-- A clock that was put back gives the moment of a change that clients know already, and 'Last-Modified' has whole
-- seconds. So each change comes at least a second after all others then, those of other resources too: a list
-- holds records of several.
CREATE FUNCTION "sync"."moment_after"("earlier" timestamptz) RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT CASE WHEN now.at > earlier THEN now.at ELSE earlier + interval '1 second' END
  FROM (SELECT clock_timestamp() AS at) AS now
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "sync"."count_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM changed) THEN
    INSERT INTO sync.revisions AS known (resource, revision, changed_at)
    VALUES (tg_argv[0], 1, sync.moment_after((SELECT coalesce(max(changed_at), '-infinity') FROM sync.revisions)))
    ON CONFLICT (resource) DO UPDATE SET revision = known.revision + 1,
      changed_at = greatest(excluded.changed_at, sync.moment_after(known.changed_at));
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "sync"."count_missing"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sync.revisions AS known (resource, revision, changed_at)
  SELECT resource, 1, sync.moment_after((SELECT coalesce(max(changed_at), '-infinity') FROM sync.revisions)) FROM (SELECT DISTINCT resource FROM changed) AS those
  ON CONFLICT (resource) DO UPDATE SET revision = known.revision + 1,
    changed_at = greatest(excluded.changed_at, sync.moment_after(known.changed_at));
  RETURN NULL;
END
$$;

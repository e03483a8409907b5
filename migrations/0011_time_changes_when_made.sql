-- A long transaction began before others that are stored already. The time of its changes is the one at which they
-- are made, so that a client that has read the others does not take its copy for the newest.
CREATE OR REPLACE FUNCTION "sync"."count_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM changed) THEN
    INSERT INTO sync.revisions AS known (resource, revision, changed_at) VALUES (tg_argv[0], 1, clock_timestamp())
    ON CONFLICT (resource) DO UPDATE
    SET revision = known.revision + 1, changed_at = greatest(known.changed_at, clock_timestamp());
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "sync"."count_missing"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sync.revisions AS known (resource, revision, changed_at)
  SELECT resource, 1, clock_timestamp() FROM (SELECT DISTINCT resource FROM changed) AS those
  ON CONFLICT (resource) DO UPDATE
  SET revision = known.revision + 1, changed_at = greatest(known.changed_at, clock_timestamp());
  RETURN NULL;
END
$$;

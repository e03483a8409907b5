-- not additive: older programs count builds that were cancelled as open, and poll them
CREATE TABLE "sync"."build_states" (
	"state" text PRIMARY KEY NOT NULL,
	"stage" text NOT NULL,
	"is_final" boolean NOT NULL,
	"source" text NOT NULL,
	"run_id" bigint,
	CONSTRAINT "build_states_final" CHECK (is_final = (stage in ('result', 'cancelled')))
);
--> statement-breakpoint
ALTER TABLE "rollup"."days" ADD COLUMN "cancelled" integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "rollup"."project_days" ADD COLUMN "cancelled" integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "rollup"."series" ADD COLUMN "cancelled" integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
DROP INDEX "mirror"."builds_unfinished";
--> statement-breakpoint
-- Each run stores what the program declares (src/resources/build-states.ts). These rows are for the reports until the first one.
INSERT INTO "sync"."build_states" ("state", "stage", "is_final", "source") VALUES
	('triggered', 'waiting', false, 'documented'), ('cloning', 'working', false, 'known'),
	('installing', 'working', false, 'known'), ('building', 'working', false, 'documented'),
	('uploading', 'working', false, 'known'), ('finished', 'result', true, 'documented'),
	('cancelled', 'cancelled', true, 'known'), ('canceled', 'cancelled', true, 'known'),
	('aborted', 'cancelled', true, 'known'), ('error', 'cancelled', true, 'known'), ('skipped', 'cancelled', true, 'known');
--> statement-breakpoint
-- How states are compared. The letters are those of ASCII, so that the program and each server agree.
CREATE FUNCTION sync.state_word(state text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(btrim(state, E' \t\n\x0B\f\r') COLLATE "C")
$$;
--> statement-breakpoint
-- For how long a build was open when it was last seen, in seconds: from its trigger or its first sight, whichever is earlier.
CREATE FUNCTION sync.open_seconds(seen_at timestamptz, triggered_at timestamptz, first_seen_at timestamptz) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT extract(epoch FROM seen_at - least(triggered_at, first_seen_at))::float8
$$;
--> statement-breakpoint
-- Builds in a final state, and those without a state, were kept apart by another rule before.
DELETE FROM "sync"."open_builds" AS open USING "mirror"."builds" AS build, "sync"."build_states" AS known
WHERE build.id = open.build_id AND known.state = sync.state_word(build.state) AND known.is_final;
--> statement-breakpoint
INSERT INTO "sync"."open_builds" ("build_id", "since", "seen_at", "run_id")
SELECT build.id, build.changed_at, build.changed_at, build.changed_run_id
FROM "mirror"."builds" AS build
WHERE build.state IS NULL AND build.deleted_at IS NULL
ON CONFLICT DO NOTHING;
--> statement-breakpoint
-- What a state means decides what all of its builds count as.
CREATE FUNCTION sync.note_any_build() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sync.touched_records (resource) VALUES ('build');
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER touch_insert AFTER INSERT OR DELETE ON sync.build_states FOR EACH ROW EXECUTE FUNCTION sync.note_any_build();
--> statement-breakpoint
CREATE TRIGGER touch_update AFTER UPDATE OF stage ON sync.build_states FOR EACH ROW EXECUTE FUNCTION sync.note_any_build();
--> statement-breakpoint
UPDATE "rollup"."state" SET "definition" = '';
--> statement-breakpoint
COMMENT ON TABLE sync.build_states IS 'What each known state of a build means. A word that is not here means that the build works.';
COMMENT ON COLUMN sync.build_states.state IS 'The word of the service, as sync.state_word spells it.';
COMMENT ON COLUMN sync.build_states.stage IS 'waiting, working, result (ended, and success says how) or cancelled (ended as neither).';
COMMENT ON COLUMN sync.build_states.is_final IS 'True for result and cancelled: the build has ended.';
COMMENT ON COLUMN sync.build_states.source IS 'documented by the interface; known to docmirror; learned, because builds stay in it; set in DOCMIRROR_FINAL_STATES.';
COMMENT ON COLUMN sync.build_states.run_id IS 'For a learned one, the run up to which no build has left it; null for others.';
COMMENT ON COLUMN rollup.days.cancelled IS 'Builds that were cancelled.';
COMMENT ON COLUMN rollup.project_days.cancelled IS 'Builds that were cancelled.';
COMMENT ON COLUMN rollup.series.cancelled IS 'Builds that were cancelled.';

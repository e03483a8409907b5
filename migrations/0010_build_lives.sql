-- not additive: where an id is given again, an older program would go on with the life of the build that had it before
CREATE TABLE "mirror"."past_transitions" (
	"build_id" text COLLATE "C" NOT NULL,
	"life" integer NOT NULL,
	"seq" integer NOT NULL,
	"from_state" text,
	"to_state" text,
	"not_before" timestamp(6) with time zone NOT NULL,
	"not_after" timestamp(6) with time zone NOT NULL,
	"anomaly" text,
	"run_id" bigint NOT NULL,
	"request" text,
	"asked_at" timestamp(6) with time zone,
	"rule" text,
	"previous_run_id" bigint,
	"previous_request" text,
	CONSTRAINT "past_transitions_build_id_life_seq_pk" PRIMARY KEY("build_id","life","seq")
);
--> statement-breakpoint
ALTER TABLE "mirror"."builds" ADD COLUMN "life" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX "builds_given_again" ON "mirror"."builds" USING btree ("first_seen_at") WHERE life > 1;--> statement-breakpoint
ALTER TABLE "mirror"."past_transitions" ADD CONSTRAINT "past_transitions_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "mirror"."builds"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TYPE mirror.build_as_of ADD ATTRIBUTE life integer;
--> statement-breakpoint
-- A build that got the id of another one was first seen later than that one, so both its first sight and its number are among what is undone.
CREATE OR REPLACE FUNCTION mirror.builds_as_of(moment timestamptz) RETURNS SETOF mirror.build_as_of
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT
    build.id, was.resource_uri, was.date, was.state, was.success, was.type, was.project_uri, was.version_uri,
    project.id, version.id, was.extra, was.first_seen_at,
    CASE since.turn WHEN 'deleted' THEN NULL WHEN 'restored' THEN since.deleted_at ELSE build.deleted_at END, was.life
  FROM mirror.builds AS build
  LEFT JOIN mirror.changes_since('build', moment) AS since ON since.record_id = build.id
  CROSS JOIN LATERAL jsonb_populate_record(build, since.before) AS was
  LEFT JOIN mirror.projects AS project ON project.id = was.project_id AND project.first_seen_at <= moment
  LEFT JOIN mirror.versions AS version ON version.id = was.version_id AND version.first_seen_at <= moment
  WHERE mirror.assert_known_at(moment) AND was.first_seen_at <= moment
$$;
--> statement-breakpoint
COMMENT ON COLUMN mirror.build_as_of.life IS 'Of the builds that had this id, one after another, the number of the one that had it then.';
COMMENT ON COLUMN mirror.builds.life IS 'Of the builds that had this id, one after another, the number of this one, from 1.';
COMMENT ON TABLE mirror.past_transitions IS 'The states of builds whose id was given to another build since, as mirror.build_transitions had them.';
COMMENT ON COLUMN mirror.past_transitions.build_id IS 'The id that both builds had.';
COMMENT ON COLUMN mirror.past_transitions.life IS 'The number of the build that had it then, as mirror.builds.life.';
COMMENT ON COLUMN mirror.past_transitions.seq IS 'The place in its life, from 1.';
COMMENT ON COLUMN mirror.past_transitions.from_state IS 'The state before; null at first sight.';
COMMENT ON COLUMN mirror.past_transitions.to_state IS 'The state that it entered, by the word of the service; vanished when it was gone.';
COMMENT ON COLUMN mirror.past_transitions.not_before IS 'It entered the state after this moment.';
COMMENT ON COLUMN mirror.past_transitions.not_after IS 'It entered the state before this moment, at which it was seen in it.';
COMMENT ON COLUMN mirror.past_transitions.anomaly IS 'What is odd about it: backward, no_date, future_date, repeated_hour, skipped_hour or clock; null where nothing is.';
COMMENT ON COLUMN mirror.past_transitions.run_id IS 'The run that first showed the state.';
COMMENT ON COLUMN mirror.past_transitions.request IS 'The request that first showed the state.';
COMMENT ON COLUMN mirror.past_transitions.asked_at IS 'When that request was sent.';
COMMENT ON COLUMN mirror.past_transitions.rule IS 'Where not_before comes from: last_seen, date, predecessor or unknown.';
COMMENT ON COLUMN mirror.past_transitions.previous_run_id IS 'The run that last showed the state before, where it set not_before.';
COMMENT ON COLUMN mirror.past_transitions.previous_request IS 'The request that last showed the state before, where it set not_before.';
COMMENT ON TABLE mirror.build_transitions IS 'One row for each state that a build was seen to enter. Rows are only added, and leave for past_transitions when the id is given to another build.';

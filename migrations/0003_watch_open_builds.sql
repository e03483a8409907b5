CREATE TABLE "sync"."open_builds" (
	"build_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"since" timestamp(6) with time zone NOT NULL,
	"seen_at" timestamp(6) with time zone NOT NULL,
	"run_id" bigint NOT NULL,
	"request" text,
	"asked_at" timestamp(6) with time zone,
	"vanished_at" timestamp(6) with time zone
);
--> statement-breakpoint
ALTER TABLE "mirror"."build_transitions" ADD COLUMN "request" text;--> statement-breakpoint
ALTER TABLE "mirror"."build_transitions" ADD COLUMN "asked_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "mirror"."build_transitions" ADD COLUMN "rule" text;--> statement-breakpoint
ALTER TABLE "mirror"."build_transitions" ADD COLUMN "previous_run_id" bigint;--> statement-breakpoint
ALTER TABLE "mirror"."build_transitions" ADD COLUMN "previous_request" text;--> statement-breakpoint
ALTER TABLE "sync"."runs" ADD COLUMN "clock_ahead_min_ms" integer;--> statement-breakpoint
ALTER TABLE "sync"."runs" ADD COLUMN "clock_ahead_max_ms" integer;--> statement-breakpoint
ALTER TABLE "sync"."open_builds" ADD CONSTRAINT "open_builds_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "mirror"."builds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "runs_syncs" ON "sync"."runs" USING btree ("id") WHERE kind <> 'watch';--> statement-breakpoint
CREATE INDEX "runs_open" ON "sync"."runs" USING btree ("id") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "walks_resource" ON "sync"."walks" USING btree ("resource","run_id");--> statement-breakpoint
CREATE INDEX "walks_whole" ON "sync"."walks" USING btree ("resource","started_at") WHERE walk = 'whole';--> statement-breakpoint
-- The moments that a local time may have meant: two in the hour that the end of summer time repeats; in the hour that its begin skips, none,
-- and then the two that the clocks on either side of it would give. `hour` says 'repeated' or 'skipped' there, else null.
CREATE FUNCTION "mirror"."read_local_time"("local" timestamp, "zone" text)
RETURNS TABLE ("earliest" timestamptz, "latest" timestamptz, "hour" text)
LANGUAGE sql STABLE
AS $$
  SELECT least(before, after), greatest(before, after),
    CASE WHEN before <> after THEN
      CASE WHEN before AT TIME ZONE zone = local AND after AT TIME ZONE zone = local THEN 'repeated' ELSE 'skipped' END
    END
  FROM (
    SELECT
      CASE WHEN is_before OR NOT is_after THEN before ELSE after END AS before,
      CASE WHEN is_after OR NOT is_before THEN after ELSE before END AS after
    FROM (
      SELECT before, after, before AT TIME ZONE zone = local AS is_before, after AT TIME ZONE zone = local AS is_after
      FROM (
        SELECT
          (local - interval '24 hours') AT TIME ZONE zone + interval '24 hours' AS before,
          (local + interval '24 hours') AT TIME ZONE zone - interval '24 hours' AS after
      ) AS reading
    ) AS checked
  ) AS possible
$$;
--> statement-breakpoint
-- Builds that are open now were last seen, as far as was written down, when they entered their state.
INSERT INTO "sync"."open_builds" ("build_id", "since", "seen_at", "run_id")
SELECT DISTINCT ON (build.id)
  build.id,
  CASE WHEN transition.seq = 1 AND isfinite(transition.not_before) THEN transition.not_before ELSE transition.not_after END,
  transition.not_after,
  transition.run_id
FROM "mirror"."builds" AS build
JOIN "mirror"."build_transitions" AS transition ON transition.build_id = build.id
WHERE build.state IS DISTINCT FROM 'finished' AND build.deleted_at IS NULL
ORDER BY build.id, transition.seq DESC;

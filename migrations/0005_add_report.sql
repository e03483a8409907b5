CREATE SCHEMA "report";
--> statement-breakpoint
CREATE SCHEMA "rollup";
--> statement-breakpoint
CREATE TABLE "report"."dim_dates" (
	"day" date PRIMARY KEY NOT NULL,
	"week" date NOT NULL,
	"iso_week" text NOT NULL,
	"month" text NOT NULL,
	"quarter" text NOT NULL,
	"year" integer NOT NULL,
	"day_of_week" integer NOT NULL,
	"is_weekend" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "report"."dim_projects" (
	"project_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"project_slug" text NOT NULL,
	"project_name" text NOT NULL,
	"repo" text,
	"repo_type" text,
	"documentation_type" text,
	"default_version" text,
	"default_branch" text,
	"published_on" date,
	"is_listed" boolean,
	"is_deleted" boolean NOT NULL,
	"first_seen_at" timestamp(6) with time zone,
	"deleted_at" timestamp(6) with time zone
);
--> statement-breakpoint
CREATE TABLE "report"."dim_versions" (
	"version_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"project_id" text COLLATE "C" NOT NULL,
	"version_slug" text NOT NULL,
	"version_name" text,
	"identifier" text,
	"is_active" boolean,
	"is_built" boolean,
	"is_uploaded" boolean,
	"is_deleted" boolean NOT NULL,
	"first_seen_at" timestamp(6) with time zone,
	"deleted_at" timestamp(6) with time zone
);
--> statement-breakpoint
CREATE TABLE "report"."error_rules" (
	"order" integer PRIMARY KEY NOT NULL,
	"pattern" text NOT NULL,
	"class" text NOT NULL,
	"note" text,
	CONSTRAINT "pattern_is_a_regular_expression" CHECK (('' ~* "report"."error_rules"."pattern") is not null),
	CONSTRAINT "class_has_1_to_100_characters" CHECK (char_length("report"."error_rules"."class") between 1 and 100)
);
--> statement-breakpoint
CREATE TABLE "rollup"."days" (
	"day" date PRIMARY KEY NOT NULL,
	"builds" integer NOT NULL,
	"finished" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"failed" integer NOT NULL,
	"unsettled" integer NOT NULL,
	"projects" integer NOT NULL,
	"success_rate_project_mean" double precision,
	"measured" integer NOT NULL,
	"p50_s_min" double precision,
	"p50_s_max" double precision,
	"p90_s_min" double precision,
	"p90_s_max" double precision,
	"p95_s_min" double precision,
	"p95_s_max" double precision
);
--> statement-breakpoint
CREATE TABLE "rollup"."errors" (
	"error_class" text NOT NULL,
	"error_fingerprint" text NOT NULL,
	"failures" integer NOT NULL,
	"projects" integer NOT NULL,
	"first_triggered_at" timestamp(6) with time zone,
	"last_triggered_at" timestamp(6) with time zone,
	"last_build_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "errors_error_fingerprint_error_class_pk" PRIMARY KEY("error_fingerprint","error_class")
);
--> statement-breakpoint
CREATE TABLE "rollup"."hours" (
	"hour" timestamp(6) with time zone PRIMARY KEY NOT NULL,
	"projects" integer NOT NULL,
	"projects_failing" integer NOT NULL,
	"projects_expected" double precision NOT NULL,
	"probability" double precision NOT NULL,
	"builds" integer NOT NULL,
	"failed" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollup"."project_days" (
	"project_id" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"builds" integer NOT NULL,
	"finished" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"failed" integer NOT NULL,
	"unsettled" integer NOT NULL,
	CONSTRAINT "project_days_project_id_day_pk" PRIMARY KEY("project_id","day")
);
--> statement-breakpoint
CREATE TABLE "rollup"."project_weeks" (
	"project_id" text COLLATE "C" NOT NULL,
	"week" date NOT NULL,
	"builds" integer NOT NULL,
	"finished" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"failed" integer NOT NULL,
	"active_days" integer NOT NULL,
	"failure_days" integer NOT NULL,
	"unsettled" integer NOT NULL,
	CONSTRAINT "project_weeks_project_id_week_pk" PRIMARY KEY("project_id","week")
);
--> statement-breakpoint
CREATE TABLE "rollup"."resources" (
	"resource" text PRIMARY KEY NOT NULL,
	"records" bigint NOT NULL,
	"deleted_records" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollup"."builds" (
	"build_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"project_id" text COLLATE "C" NOT NULL,
	"version_id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"state" text,
	"outcome" text NOT NULL,
	"succeeded" integer,
	"failed" integer,
	"is_settled" boolean NOT NULL,
	"triggered_at" timestamp(6) with time zone,
	"triggered_on" date,
	"is_time_ambiguous" boolean NOT NULL,
	"finished_after" timestamp(6) with time zone,
	"finished_before" timestamp(6) with time zone,
	"duration_s_min" double precision,
	"duration_s_max" double precision,
	"error_class" text,
	"error_fingerprint" text,
	"output_excerpt" text,
	"first_seen_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	"last_seen_at" timestamp(6) with time zone,
	"record_hash" "bytea" NOT NULL,
	"updated_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollup"."series" (
	"project_id" text COLLATE "C" NOT NULL,
	"version_id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"builds" integer NOT NULL,
	"finished" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"failed" integer NOT NULL,
	"first_triggered_at" timestamp(6) with time zone,
	"last_triggered_at" timestamp(6) with time zone,
	"recent_finished" integer NOT NULL,
	"recent_succeeded" integer NOT NULL,
	"recent_flips" integer NOT NULL,
	CONSTRAINT "series_project_id_version_id_type_pk" PRIMARY KEY("project_id","version_id","type")
);
--> statement-breakpoint
CREATE TABLE "rollup"."state" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"source_timezone" text NOT NULL,
	"stuck_after_s" double precision NOT NULL,
	"definition" integer NOT NULL,
	"run_id" bigint NOT NULL,
	"covered_through" timestamp(6) with time zone,
	"refreshed_at" timestamp(6) with time zone NOT NULL,
	"dear_refreshed_at" timestamp(6) with time zone,
	"dear_took_s" double precision DEFAULT 0 NOT NULL,
	CONSTRAINT "state_has_one_row" CHECK ("rollup"."state"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "rollup"."streaks" (
	"project_id" text COLLATE "C" NOT NULL,
	"version_id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"first_failed_build_id" text COLLATE "C" NOT NULL,
	"last_failed_build_id" text COLLATE "C" NOT NULL,
	"last_succeeded_build_id" text COLLATE "C",
	"last_succeeded_at" timestamp(6) with time zone,
	"recovered_build_id" text COLLATE "C",
	"recovered_at" timestamp(6) with time zone,
	"recovered_after" timestamp(6) with time zone,
	"recovered_before" timestamp(6) with time zone,
	"failures" integer NOT NULL,
	"failed_at" timestamp(6) with time zone,
	"failed_after" timestamp(6) with time zone,
	"failed_before" timestamp(6) with time zone,
	"error_class" text,
	CONSTRAINT "streaks_first_failed_build_id_pk" PRIMARY KEY("first_failed_build_id")
);
--> statement-breakpoint
CREATE TABLE "rollup"."weeks" (
	"week" date PRIMARY KEY NOT NULL,
	"builds" integer NOT NULL,
	"finished" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"failed" integer NOT NULL,
	"unsettled" integer NOT NULL,
	"projects" integer NOT NULL,
	"success_rate_project_mean" double precision
);
--> statement-breakpoint
ALTER TABLE "report"."dim_versions" ADD CONSTRAINT "dim_versions_project_id_dim_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "report"."dim_projects"("project_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "dim_versions_project_id" ON "report"."dim_versions" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "project_days_day" ON "rollup"."project_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "builds_newest" ON "rollup"."builds" USING btree ("triggered_on" DESC NULLS LAST,"triggered_at" DESC NULLS LAST,"build_id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "builds_project_day" ON "rollup"."builds" USING btree ("project_id","triggered_on");--> statement-breakpoint
CREATE INDEX "builds_unsettled" ON "rollup"."builds" USING btree ("build_id") WHERE not is_settled or last_seen_at is not null;--> statement-breakpoint
CREATE INDEX "builds_fingerprint" ON "rollup"."builds" USING btree ("error_fingerprint") WHERE failed = 1;--> statement-breakpoint
CREATE INDEX "streaks_project" ON "rollup"."streaks" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "build_transitions_run" ON "mirror"."build_transitions" USING brin ("run_id");--> statement-breakpoint
-- The rules that failures are classified by at first; whoever runs docmirror may change them.
INSERT INTO "report"."error_rules" ("order", "pattern", "class", "note") VALUES
  (10, 'terminated due to inactivity', 'infra', 'closed by the service''s own job after it hung: no fault of the project'),
  (20, 'cannot connect to the docker|error response from daemon|container .*(died|not running)|internal server error|worker (was )?lost', 'infra', 'the platform'),
  (30, 'cancell?ed (by|due)|build (was )?cancell?ed|keyboardinterrupt', 'cancelled', 'somebody stopped it'),
  (40, 'out of memory|memory consumption|memoryerror|cannot allocate memory|exit(ed)?( status| code)?:? 137|oom', 'memory', 'killed for what it used'),
  (50, 'timed? ?out|time limit|deadline exceeded', 'timeout', 'took too long'),
  (60, 'no space left', 'infra', 'the disk was full'),
  (70, 'unable to access|could not read (from remote|username)|repository not found|remote branch .* not found|pathspec|git clone|failed to import project|checkout failed|permission denied \(publickey|abort: |host key verification', 'vcs', 'the source could not be had'),
  (80, 'no matching distribution|could not find a version|resolutionimpossible|dependency resolver|no module named|modulenotfounderror|importerror|failed building wheel|package .* (not found|is missing)', 'dependency', 'something it needs is missing, or clashes'),
  (90, 'latex|pdftex|latexmk|xelatex|\.sty\M', 'latex_pdf', 'the PDF alone'),
  (100, 'configuration (file )?(error|not found)|conf\.py|invalid configuration|yaml|programmable error', 'config', 'the project''s own settings'),
  (110, 'treated as error|toctree|undefined label|unknown directive|severe:|docutils|contents\.rst|index\.rst', 'docs_source', 'the documents themselves');
--> statement-breakpoint
-- The line that says what went wrong: the last one that looks like an error, of the four texts in this order; where none does, the last
-- line of the first text that has one. Texts may be megabytes long: their last 4,000 characters are enough.
CREATE FUNCTION "rollup"."error_line"("error" text, "setup_error" text, "output" text, "setup" text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
  marker CONSTANT text := 'error:|fatal:|exception|killed|traceback|out of memory|no space left';
  bodies CONSTANT text[] := ARRAY[right(error, 4000), right(setup_error, 4000), right(output, 4000), right(setup, 4000)];
  body text;
  lines text[];
BEGIN
  FOREACH body IN ARRAY bodies LOOP
    CONTINUE WHEN body IS NULL OR body !~* marker;
    lines := regexp_split_to_array(body, '[\r\n]+');
    FOR place IN REVERSE array_length(lines, 1)..1 LOOP
      IF lines[place] ~* marker THEN RETURN rollup.plain_line(lines[place]); END IF;
    END LOOP;
  END LOOP;
  FOREACH body IN ARRAY bodies LOOP
    CONTINUE WHEN body IS NULL OR body !~ '\S';
    lines := regexp_split_to_array(body, '[\r\n]+');
    FOR place IN REVERSE array_length(lines, 1)..1 LOOP
      IF lines[place] ~ '\S' THEN RETURN rollup.plain_line(lines[place]); END IF;
    END LOOP;
  END LOOP;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- Without what a terminal would obey, trimmed, 400 characters at most; null where nothing is left.
CREATE FUNCTION "rollup"."plain_line"("line" text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT nullif(left(btrim(regexp_replace(regexp_replace(line, '\x1b\[[0-9;?]*[ -/]*[@-~]', '', 'g'), '[\x01-\x1f\x7f-\x9f]+', ' ', 'g')), 400), '')
$$;
--> statement-breakpoint
-- What the lines of like failures have in common: URLs, addresses, dates, paths, hashes and numbers are cut out.
CREATE FUNCTION "rollup"."error_fingerprint"("line" text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  template text := lower(line);
BEGIN
  -- Most lines lack most of it, and looking for a character costs a hundredth of a regular expression.
  IF position('://' IN template) > 0 THEN
    template := regexp_replace(template, '[a-z][a-z0-9+.-]*://[^\s''"<>)]+', '<url>', 'g');
  END IF;
  IF position('@' IN template) > 0 THEN
    template := regexp_replace(template, '[\w.+-]+@[\w-]+(\.[\w-]+)+', '<address>', 'g');
  END IF;
  IF template ~ '\d' THEN
    template := regexp_replace(template, '\m[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\M', '<hash>', 'g');
    template := regexp_replace(template, '\m\d{4}-\d{2}-\d{2}([t ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(z|[+-]\d{2}:?\d{2})?)?|\m\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\M', '<date>', 'g');
  END IF;
  IF position('/' IN template) > 0 OR position('\' IN template) > 0 THEN
    template := regexp_replace(template, '\m[a-z]:\\[^\s''"]+|(~|\.{1,2})?(/[\w.@+%~-]+){2,}/?|[\w.@+%~-]+(/[\w.@+%~-]+)+/?|(?<![\w<])/[\w.@+%~-]+/?', '<path>', 'g');
  END IF;
  IF template ~ '\d' THEN
    template := regexp_replace(template, '\m(0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{7,64})\M', '<hash>', 'g');
    template := regexp_replace(template, '\d+([.,]\d+)*', '<n>', 'g');
  END IF;
  template := regexp_replace(template, '\s+', ' ', 'g');
  RETURN left(md5(template), 16);
END
$$;
--> statement-breakpoint
-- Each is one expression, so that Postgres can put it in place of the call. In schema report: whoever sums builds up otherwise needs it too.
CREATE FUNCTION "report"."wilson_low"("succeeded" bigint, "finished" bigint) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT CASE WHEN finished > 0 AND succeeded = 0 THEN 0 WHEN finished > 0 THEN greatest(0::float8, (succeeded + 1.9208::float8
    - 1.96::float8 * sqrt(succeeded::float8 * (finished - succeeded) / finished + 0.9604::float8)) / (finished + 3.8416::float8)) END
$$;
--> statement-breakpoint
CREATE FUNCTION "report"."wilson_high"("succeeded" bigint, "finished" bigint) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT CASE WHEN finished > 0 AND succeeded = finished THEN 1 WHEN finished > 0 THEN least(1::float8, (succeeded + 1.9208::float8
    + 1.96::float8 * sqrt(succeeded::float8 * (finished - succeeded) / finished + 0.9604::float8)) / (finished + 3.8416::float8)) END
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "report"."wilson_low"(bigint, bigint) IS 'Lower end of the 95 % interval of the rate succeeded / finished, by Wilson (1927), z = 1.96; null where nothing finished.';
--> statement-breakpoint
COMMENT ON FUNCTION "report"."wilson_high"(bigint, bigint) IS 'Upper end of the 95 % interval of the rate succeeded / finished, by Wilson (1927), z = 1.96; null where nothing finished.';
--> statement-breakpoint
-- The chance that of n independent things, each with the chance p, k or more happen. 1 where k is no more than expected.
CREATE FUNCTION "rollup"."binomial_tail"("n" integer, "k" integer, "p" float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
  logarithm float8 := 0;
  term float8;
  total float8 := 0;
BEGIN
  IF k <= n * p THEN RETURN 1; END IF;
  IF p <= 0 THEN RETURN 0; END IF;
  FOR i IN 1..k LOOP
    logarithm := logarithm + ln((n - k + i)::float8 / i);
  END LOOP;
  logarithm := logarithm + k * ln(p) + (n - k) * ln(1 - p);
  -- Smaller ones cannot be told from 0.
  IF logarithm < -690 THEN RETURN 0; END IF;
  term := exp(logarithm);
  FOR i IN k..n LOOP
    total := total + term;
    EXIT WHEN i = n OR term < total * 1e-17;
    term := term * (n - i) / (i + 1) * p / (1 - p);
  END LOOP;
  RETURN least(1, total);
END
$$;
--> statement-breakpoint
-- Without it no plan that reads local times may be run by several processes.
ALTER FUNCTION "mirror"."read_local_time"(timestamp, text) PARALLEL SAFE;
--> statement-breakpoint
CREATE FUNCTION "rollup"."is_ambiguous"("local" timestamp, "zone" text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN (SELECT hour IS NOT NULL FROM mirror.read_local_time(local, zone));
END
$$;
--> statement-breakpoint
-- What rollup.builds is to hold, from the mirror, but for what error lines count as.
CREATE VIEW "rollup"."build_facts" AS
SELECT
  build.id AS build_id,
  coalesce(build.project_id, '-1') AS project_id,
  coalesce(build.version_id, '-1') AS version_id,
  left(coalesce(build.type, '(none)'), 100) AS type,
  build.state,
  told.outcome,
  CASE told.outcome WHEN 'succeeded' THEN 1 WHEN 'failed' THEN 0 END AS succeeded,
  CASE told.outcome WHEN 'failed' THEN 1 WHEN 'succeeded' THEN 0 END AS failed,
  told.outcome <> 'open'
    AND (told.outcome <> 'unknown_state' OR coalesce(build.state = 'finished' OR seen.age_s > state.stuck_after_s, false)) AS is_settled,
  triggered.at AS triggered_at,
  (triggered.at AT TIME ZONE 'UTC')::date AS triggered_on,
  -- Where the clocks are the same a day before and a day after, the hour is like any other; else it is looked at.
  coalesce(((build.date - interval '1 day') AT TIME ZONE state.source_timezone) + interval '2 days'
    <> (build.date + interval '1 day') AT TIME ZONE state.source_timezone
    AND rollup.is_ambiguous(build.date, state.source_timezone), false) AS is_time_ambiguous,
  CASE WHEN isfinite(finish.not_before) THEN finish.not_before END AS finished_after,
  finish.not_after AS finished_before,
  -- The trigger lies between the bounds of the first transition. The date itself is no upper bound: the clock that dates builds may run behind.
  CASE WHEN isfinite(finish.not_before) THEN greatest(0, extract(epoch FROM finish.not_before - first.not_after))
    WHEN finish.not_after IS NOT NULL THEN 0
  END::float8 AS duration_s_min,
  CASE WHEN isfinite(first.not_before) THEN extract(epoch FROM finish.not_after - first.not_before) END::float8 AS duration_s_max,
  -- Of failed builds alone; '' where there is none.
  CASE WHEN told.outcome = 'failed' THEN coalesce(rollup.error_line(log.error, log.setup_error, log.output, log.setup), '') END AS error_line,
  build.first_seen_at,
  build.deleted_at,
  CASE WHEN build.state IS DISTINCT FROM 'finished' AND told.outcome <> 'vanished' THEN seen.at END AS last_seen_at,
  build.record_hash
FROM mirror.builds AS build
CROSS JOIN rollup.state
LEFT JOIN sync.open_builds AS open ON open.build_id = build.id
LEFT JOIN mirror.build_transitions AS first ON first.build_id = build.id AND first.seq = 1
-- The last time that it was seen to finish. (Neither a LIMIT nor a query among the columns: several processes could not share the work.)
LEFT JOIN mirror.build_transitions AS finish ON build.state = 'finished' AND finish.build_id = build.id AND finish.to_state = 'finished'
  AND NOT EXISTS (
    SELECT FROM mirror.build_transitions AS later
    WHERE later.build_id = finish.build_id AND later.to_state = 'finished' AND later.seq > finish.seq
  )
LEFT JOIN mirror.build_logs AS log ON build.state = 'finished' AND NOT build.success AND log.build_id = build.id
CROSS JOIN LATERAL (SELECT build.date AT TIME ZONE state.source_timezone AS at) AS triggered
CROSS JOIN LATERAL (
  SELECT coalesce(open.seen_at, build.changed_at) AS at,
    extract(epoch FROM coalesce(open.seen_at, build.changed_at) - least(triggered.at, build.first_seen_at))::float8 AS age_s
) AS seen
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN build.state = 'finished' THEN CASE build.success WHEN true THEN 'succeeded' WHEN false THEN 'failed' ELSE 'unknown_state' END
    WHEN build.deleted_at IS NOT NULL OR open.vanished_at IS NOT NULL THEN 'vanished'
    WHEN build.state IS NULL OR build.state NOT IN ('triggered', 'building') THEN 'unknown_state'
    WHEN seen.age_s > state.stuck_after_s THEN 'stuck'
    ELSE 'open'
  END AS outcome
) AS told;
--> statement-breakpoint
-- What an error line counts as: the class of the first rule that matches, and the fingerprint.
CREATE FUNCTION "rollup"."describe_error"("line" text, OUT "error_class" text, OUT "error_fingerprint" text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  error_class := coalesce((SELECT class FROM report.error_rules WHERE line ~* pattern ORDER BY "order" LIMIT 1), 'unclassified');
  error_fingerprint := rollup.error_fingerprint(line);
END
$$;
--> statement-breakpoint
CREATE VIEW "rollup"."builds_source" AS
SELECT fact.*, nullif(fact.error_line, '') AS output_excerpt, described.error_class, described.error_fingerprint
FROM rollup.build_facts AS fact LEFT JOIN LATERAL rollup.describe_error(fact.error_line) AS described ON true;
--> statement-breakpoint
CREATE VIEW "rollup"."project_days_source" AS
SELECT project_id, triggered_on AS day, count(*)::int AS builds, count(succeeded)::int AS finished,
  coalesce(sum(succeeded), 0)::int AS succeeded, coalesce(sum(failed), 0)::int AS failed,
  (count(*) FILTER (WHERE NOT is_settled))::int AS unsettled
FROM rollup.builds WHERE triggered_on IS NOT NULL
GROUP BY project_id, triggered_on;
--> statement-breakpoint
-- Percentiles of bounds are bounds of the percentile: each bound holds build by build. No upper bound counts as the highest of all.
CREATE VIEW "rollup"."days_source" AS
SELECT day.*, times.measured,
  times.least[1] AS p50_s_min, CASE WHEN times.most[1] < 'infinity' THEN times.most[1] END AS p50_s_max,
  times.least[2] AS p90_s_min, CASE WHEN times.most[2] < 'infinity' THEN times.most[2] END AS p90_s_max,
  times.least[3] AS p95_s_min, CASE WHEN times.most[3] < 'infinity' THEN times.most[3] END AS p95_s_max
FROM (
  SELECT day, sum(builds)::int AS builds, sum(finished)::int AS finished, sum(succeeded)::int AS succeeded, sum(failed)::int AS failed,
    sum(unsettled)::int AS unsettled, (count(*) FILTER (WHERE project_id <> '-1'))::int AS projects,
    avg(succeeded::float8 / nullif(finished, 0)) FILTER (WHERE project_id <> '-1') AS success_rate_project_mean
  FROM rollup.project_days GROUP BY day
) AS day
CROSS JOIN LATERAL (
  SELECT count(*)::int AS measured,
    percentile_cont(ARRAY[0.5, 0.9, 0.95]) WITHIN GROUP (ORDER BY duration_s_min) AS least,
    percentile_cont(ARRAY[0.5, 0.9, 0.95]) WITHIN GROUP (ORDER BY coalesce(duration_s_max, 'infinity')) AS most
  FROM rollup.builds AS build
  WHERE build.triggered_on = day.day AND build.duration_s_min IS NOT NULL
) AS times;
--> statement-breakpoint
CREATE VIEW "rollup"."project_weeks_source" AS
SELECT project_id, date_trunc('week', day::timestamp)::date AS week, sum(builds)::int AS builds, sum(finished)::int AS finished,
  sum(succeeded)::int AS succeeded, sum(failed)::int AS failed, count(*)::int AS active_days,
  (count(*) FILTER (WHERE failed > 0))::int AS failure_days, sum(unsettled)::int AS unsettled
FROM rollup.project_days
GROUP BY project_id, date_trunc('week', day::timestamp)::date;
--> statement-breakpoint
CREATE VIEW "rollup"."weeks_source" AS
SELECT week, sum(builds)::int AS builds, sum(finished)::int AS finished, sum(succeeded)::int AS succeeded, sum(failed)::int AS failed,
  sum(unsettled)::int AS unsettled, (count(*) FILTER (WHERE project_id <> '-1'))::int AS projects,
  avg(succeeded::float8 / nullif(finished, 0)) FILTER (WHERE project_id <> '-1') AS success_rate_project_mean
FROM rollup.project_weeks
GROUP BY week;
--> statement-breakpoint
-- Finished builds of a series stand in a partition of their own, so that neighbours there are neighbours in time.
CREATE VIEW "rollup"."series_source" AS
SELECT project_id, version_id, type, count(*)::int AS builds, count(succeeded)::int AS finished,
  coalesce(sum(succeeded), 0)::int AS succeeded, coalesce(sum(failed), 0)::int AS failed,
  min(triggered_at) AS first_triggered_at, max(triggered_at) AS last_triggered_at,
  (count(succeeded) FILTER (WHERE nth_last <= 20))::int AS recent_finished,
  coalesce(sum(succeeded) FILTER (WHERE nth_last <= 20), 0)::int AS recent_succeeded,
  (count(*) FILTER (WHERE nth_last < 20 AND succeeded <> before))::int AS recent_flips
FROM (
  SELECT project_id, version_id, type, succeeded, failed, triggered_at, row_number() OVER newest AS nth_last, lead(succeeded) OVER newest AS before
  FROM rollup.builds
  WINDOW newest AS (
    PARTITION BY project_id, version_id, type, succeeded IS NULL
    ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC
  )
) AS build
GROUP BY project_id, version_id, type;
--> statement-breakpoint
CREATE VIEW "rollup"."streaks_source" AS
SELECT streak.project_id, streak.version_id, streak.type, streak.first_failed_build_id, streak.last_failed_build_id,
  streak.last_succeeded_build_id, succeeded.triggered_at AS last_succeeded_at,
  streak.recovered_build_id, recovered.triggered_at AS recovered_at, recovered.finished_after AS recovered_after,
  recovered.finished_before AS recovered_before, streak.failures, failed.triggered_at AS failed_at, failed.finished_after AS failed_after,
  failed.finished_before AS failed_before, failed.error_class
FROM (
  SELECT project_id, version_id, type,
    max(build_id) FILTER (WHERE before IS DISTINCT FROM 0) AS first_failed_build_id,
    max(build_id) FILTER (WHERE after IS DISTINCT FROM 0) AS last_failed_build_id,
    max(build_before) FILTER (WHERE before = 1) AS last_succeeded_build_id,
    max(build_after) FILTER (WHERE after = 1) AS recovered_build_id,
    count(*)::int AS failures
  FROM (
    SELECT project_id, version_id, type, build_id, failed,
      sum(succeeded) OVER oldest AS successes_before,
      lag(succeeded) OVER oldest AS before, lag(build_id) OVER oldest AS build_before,
      lead(succeeded) OVER oldest AS after, lead(build_id) OVER oldest AS build_after
    FROM rollup.builds WHERE succeeded IS NOT NULL
    WINDOW oldest AS (
      PARTITION BY project_id, version_id, type ORDER BY triggered_at NULLS FIRST, length(build_id), build_id
      ROWS UNBOUNDED PRECEDING
    )
  ) AS build
  WHERE failed = 1
  GROUP BY project_id, version_id, type, successes_before
) AS streak
JOIN rollup.builds AS failed ON failed.build_id = streak.first_failed_build_id
LEFT JOIN rollup.builds AS succeeded ON succeeded.build_id = streak.last_succeeded_build_id
LEFT JOIN rollup.builds AS recovered ON recovered.build_id = streak.recovered_build_id;
--> statement-breakpoint
CREATE VIEW "rollup"."errors_source" AS
SELECT error_class, error_fingerprint, count(*)::int AS failures,
  (count(DISTINCT project_id) FILTER (WHERE project_id <> '-1'))::int AS projects,
  min(triggered_at) AS first_triggered_at, max(triggered_at) AS last_triggered_at,
  (array_agg(build_id ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC))[1] AS last_build_id
FROM rollup.builds WHERE failed = 1
GROUP BY error_class, error_fingerprint;
--> statement-breakpoint
-- A project's base rate is that of its other hours, drawn towards that of all as if it had five hours more of these: one with few hours
-- has no rate of its own.
CREATE VIEW "rollup"."hours_source" AS
WITH project_hour AS (
  SELECT project_id, date_trunc('hour', triggered_at, 'UTC') AS hour, count(*) AS builds, sum(failed) AS failed,
    (sum(failed) > 0)::int AS is_failing
  FROM rollup.builds WHERE succeeded IS NOT NULL AND triggered_at IS NOT NULL AND project_id <> '-1'
  GROUP BY project_id, date_trunc('hour', triggered_at, 'UTC')
), rated AS (
  SELECT hour, builds, failed, is_failing,
    (sum(is_failing) OVER project - is_failing + 5 * avg(is_failing) OVER ())::float8 / (count(*) OVER project - 1 + 5) AS base_rate
  FROM project_hour
  WINDOW project AS (PARTITION BY project_id)
)
SELECT hour, count(*)::int AS projects, sum(is_failing)::int AS projects_failing, sum(base_rate) AS projects_expected,
  rollup.binomial_tail(count(*)::int, sum(is_failing)::int, sum(base_rate) / count(*)) AS probability,
  sum(builds)::int AS builds, sum(failed)::int AS failed
FROM rated
GROUP BY hour HAVING count(*) >= 8;
--> statement-breakpoint
CREATE VIEW "rollup"."resources_source" AS
SELECT 'user' AS resource, count(*) FILTER (WHERE deleted_at IS NULL) AS records, count(deleted_at) AS deleted_records FROM mirror.users
UNION ALL SELECT 'project', count(*) FILTER (WHERE deleted_at IS NULL), count(deleted_at) FROM mirror.projects
UNION ALL SELECT 'version', count(*) FILTER (WHERE deleted_at IS NULL), count(deleted_at) FROM mirror.versions
UNION ALL SELECT 'build', count(*) FILTER (WHERE deleted_at IS NULL), count(deleted_at) FROM mirror.builds
UNION ALL SELECT 'file', count(*) FILTER (WHERE deleted_at IS NULL), count(deleted_at) FROM mirror.files;
--> statement-breakpoint
CREATE VIEW "rollup"."dim_projects_source" AS
SELECT project.id AS project_id, coalesce(nullif(slug, ''), project.id) AS project_slug,
  coalesce(nullif(name, ''), nullif(slug, ''), project.id) AS project_name,
  repo, repo_type, documentation_type, default_version, default_branch,
  (pub_date AT TIME ZONE state.source_timezone AT TIME ZONE 'UTC')::date AS published_on, listed AS is_listed,
  deleted_at IS NOT NULL AS is_deleted, first_seen_at, deleted_at
FROM mirror.projects AS project CROSS JOIN rollup.state WHERE project.id <> '-1'
UNION ALL
SELECT '-1', '(unknown)', '(unknown)', NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL;
--> statement-breakpoint
CREATE VIEW "rollup"."dim_versions_source" AS
SELECT id AS version_id, coalesce(project_id, '-1') AS project_id, coalesce(nullif(slug, ''), id) AS version_slug,
  verbose_name AS version_name, identifier, active AS is_active, built AS is_built, uploaded AS is_uploaded,
  deleted_at IS NOT NULL AS is_deleted, first_seen_at, deleted_at
FROM mirror.versions WHERE id <> '-1'
UNION ALL
SELECT '-1', '-1', '(unknown)', '(unknown)', NULL, NULL, NULL, NULL, false, NULL, NULL;
--> statement-breakpoint
-- From the first build to the end of next year, no earlier than 2000. What builds say beyond that is in it day by day: one that is dated to the
-- year 1 must not fill two thousand years.
CREATE VIEW "rollup"."dim_dates_source" AS
SELECT day, date_trunc('week', day::timestamp)::date AS week, to_char(day, 'IYYY"-W"IW') AS iso_week, to_char(day, 'YYYY-MM') AS month,
  to_char(day, 'YYYY"-Q"Q') AS quarter, extract(year FROM day)::int AS year, extract(isodow FROM day)::int AS day_of_week,
  extract(isodow FROM day) > 5 AS is_weekend
FROM (
  SELECT generate_series(
    least((SELECT min(triggered_on) FROM rollup.builds WHERE triggered_on >= '2000-01-01'), today)::timestamp, last::timestamp, '1 day'
  )::date AS day
  FROM (
    SELECT (now() AT TIME ZONE 'UTC')::date AS today, make_date(extract(year FROM now() AT TIME ZONE 'UTC')::int + 1, 12, 31) AS last
  ) AS calendar
  UNION
  SELECT triggered_on FROM rollup.builds
  WHERE triggered_on < '2000-01-01' OR triggered_on > make_date(extract(year FROM now() AT TIME ZONE 'UTC')::int + 1, 12, 31)
) AS calendar;

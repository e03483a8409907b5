-- not additive: older programs hold other locks, which would not keep two runs apart
CREATE TABLE "sync"."leases" (
	"name" text PRIMARY KEY NOT NULL,
	"term" bigint NOT NULL,
	"instance" text NOT NULL,
	"pid" integer NOT NULL,
	"host" text NOT NULL,
	"since" timestamp(6) with time zone NOT NULL,
	"renewed_at" timestamp(6) with time zone NOT NULL,
	"until" timestamp(6) with time zone NOT NULL,
	"backend_pid" integer,
	"backend_start" timestamp(6) with time zone,
	CONSTRAINT "leases_term" UNIQUE("name","term")
);
--> statement-breakpoint
ALTER TABLE "sync"."runs" ADD COLUMN "term" bigint;
--> statement-breakpoint
DROP TABLE "sync"."leader";
--> statement-breakpoint
-- A run of an older program that is under way writes nothing more.
UPDATE "sync"."runs" SET "status" = 'interrupted', "finished_at" = "heartbeat_at", "error" = 'docmirror was upgraded while it ran'
WHERE "status" = 'running';
--> statement-breakpoint
-- Whether somebody has the lease. A process that died leaves no session, one that froze does not renew. A standby does not see the sessions
-- of its primary, and learns of a renewal a little later.
CREATE FUNCTION sync.is_held(lease sync.leases) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT CASE
    WHEN pg_is_in_recovery() THEN lease.until > clock_timestamp() - interval '30 seconds'
    ELSE lease.until > clock_timestamp() AND (lease.backend_pid IS NULL OR EXISTS (
      -- Other roles do not see when a session began.
      SELECT FROM pg_stat_activity AS session
      WHERE session.pid = lease.backend_pid AND (session.backend_start = lease.backend_start) IS NOT FALSE))
  END
$$;
--> statement-breakpoint
COMMENT ON TABLE sync.leases IS 'What one process at a time may do, and which process that is; a row for each name that was ever taken.';
COMMENT ON COLUMN sync.leases.name IS 'run: to write records. lead: to run the schedule. content: to fetch the pages of files.';
COMMENT ON COLUMN sync.leases.term IS 'How often it was taken. What a holder writes proves its term.';
COMMENT ON COLUMN sync.leases.instance IS 'A random name of the process, with which the application names of its sessions end.';
COMMENT ON COLUMN sync.leases.pid IS 'Its number on its host.';
COMMENT ON COLUMN sync.leases.host IS 'Its host.';
COMMENT ON COLUMN sync.leases.since IS 'When it took the lease.';
COMMENT ON COLUMN sync.leases.renewed_at IS 'When it renewed the lease last, by the clock of Postgres, as all times here.';
COMMENT ON COLUMN sync.leases.until IS 'Until when the lease is held unless it is renewed; in the past once it was released.';
COMMENT ON COLUMN sync.leases.backend_pid IS 'The session that ends with its process; null behind a pooler.';
COMMENT ON COLUMN sync.leases.backend_start IS 'When that session began.';
COMMENT ON COLUMN sync.runs.term IS 'The term of the lease under which the run may write; null for runs of older programs.';

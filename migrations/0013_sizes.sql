-- additive: two columns that may be null; a run of an older program has none
ALTER TABLE "sync"."runs" ADD COLUMN "certificate_ends_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "sync"."runs" ADD COLUMN "database_bytes" bigint;--> statement-breakpoint
COMMENT ON COLUMN sync.runs.certificate_ends_at IS 'When the certificate of the service ends, as the run saw it; null without one.';
COMMENT ON COLUMN sync.runs.database_bytes IS 'Bytes of the whole database at the end of the run; null for a round of the watch.';

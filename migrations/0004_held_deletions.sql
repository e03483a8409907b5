-- not additive: an older program would ask for the details of what is held back, and delete it
ALTER TABLE "sync"."missing_records" ADD COLUMN "held_until" timestamp(6) with time zone;
--> statement-breakpoint
COMMENT ON COLUMN sync.missing_records.held_until IS 'Its deletion is held back: at least until then, infinity where a person decides. Null where it is not.';

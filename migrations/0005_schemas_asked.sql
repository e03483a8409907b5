-- additive: a column that older programs do not read
ALTER TABLE "sync"."upstream_schemas" ADD COLUMN "asked_at" timestamp(6) with time zone;
--> statement-breakpoint
COMMENT ON COLUMN sync.upstream_schemas.asked_at IS 'When it came last; null where that was not noted.';

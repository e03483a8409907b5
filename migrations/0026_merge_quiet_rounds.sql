-- additive: columns, null in rows of older versions
ALTER TABLE "sync"."runs" ADD COLUMN "rounds" integer;
ALTER TABLE "sync"."runs" ADD COLUMN "rounds_first_id" bigint;
ALTER TABLE "sync"."runs" ADD COLUMN "rounds_since" timestamp(6) with time zone;
ALTER TABLE "sync"."runs" ADD COLUMN "rounds_requests" bigint;
ALTER TABLE "sync"."runs" ADD COLUMN "rounds_bytes" bigint;
COMMENT ON COLUMN "sync"."runs"."rounds" IS 'How many rounds of the watch that saw nothing this row stands for: its own, the last of them, and those before it within the hour; null for every other run.';
COMMENT ON COLUMN "sync"."runs"."rounds_first_id" IS 'The number of the first of those rounds.';
COMMENT ON COLUMN "sync"."runs"."rounds_since" IS 'When the first of those rounds began.';
COMMENT ON COLUMN "sync"."runs"."rounds_requests" IS 'The requests that all of them sent.';
COMMENT ON COLUMN "sync"."runs"."rounds_bytes" IS 'The bytes that all of them received.';

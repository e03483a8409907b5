-- additive: a table that older programs do not read
CREATE TABLE "sync"."jobs" (
	"job" text PRIMARY KEY NOT NULL,
	"good_at" timestamp(6) with time zone,
	"what" text,
	"bytes" bigint,
	"failed_at" timestamp(6) with time zone,
	"error" text,
	"failures" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
COMMENT ON TABLE sync.jobs IS 'How backups and exports ended last; a row per job.';
COMMENT ON COLUMN sync.jobs.job IS 'backup or export.';
COMMENT ON COLUMN sync.jobs.good_at IS 'When its last good run began; null where it had none.';
COMMENT ON COLUMN sync.jobs.what IS 'The file or the folder that this run wrote.';
COMMENT ON COLUMN sync.jobs.bytes IS 'The bytes that it wrote; null where they are not known.';
COMMENT ON COLUMN sync.jobs.failed_at IS 'When the first failure since then began; null where there was none.';
COMMENT ON COLUMN sync.jobs.error IS 'What the last failure said; null after a good run.';
COMMENT ON COLUMN sync.jobs.failures IS 'How many runs have failed in a row.';

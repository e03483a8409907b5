-- additive: a table that older programs do not read
CREATE TABLE "sync"."checks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."checks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"checked_at" timestamp(6) with time zone DEFAULT now() NOT NULL,
	"lists" jsonb NOT NULL,
	"suspects" jsonb NOT NULL
);
--> statement-breakpoint
COMMENT ON TABLE sync.checks IS 'Checks by sample (docmirror verify); a row per check.';
COMMENT ON COLUMN sync.checks.id IS 'Counts up; the newest check has the highest.';
COMMENT ON COLUMN sync.checks.checked_at IS 'When it ended.';
COMMENT ON COLUMN sync.checks.lists IS 'By list: its records; how many were checked, equal, changed, unclear and wrong.';
COMMENT ON COLUMN sync.checks.suspects IS 'Records that were wrong or had changed, which the next check looks at again.';

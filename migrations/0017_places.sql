-- additive: one new table
CREATE TABLE "sync"."places" (
	"run_id" bigint PRIMARY KEY NOT NULL,
	"place" jsonb NOT NULL,
	"noted_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
COMMENT ON TABLE "sync"."places" IS 'Where this database was: the first run that ended there, and what tells the place from others.';

CREATE TABLE "sync"."missing_records" (
	"resource" text NOT NULL,
	"record_id" text COLLATE "C" NOT NULL,
	"run_id" bigint NOT NULL,
	"noticed_at" timestamp(6) with time zone NOT NULL,
	"asked_at" timestamp(6) with time zone,
	CONSTRAINT "missing_records_resource_record_id_pk" PRIMARY KEY("resource","record_id")
);
--> statement-breakpoint
ALTER TABLE "sync"."quarantine" ADD COLUMN "list_offset" bigint;--> statement-breakpoint
ALTER TABLE "sync"."runs" ADD COLUMN "warnings" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
-- Pages are remembered with more of their envelope from now on; without them the next night reads them anew.
DELETE FROM "sync"."pages";

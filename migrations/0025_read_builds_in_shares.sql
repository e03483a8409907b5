-- additive: columns that may be null, and an index
ALTER TABLE "sync"."walks" ADD COLUMN "read_from" timestamp(6);--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "read_to" timestamp(6);--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "read_since" timestamp(6) with time zone;--> statement-breakpoint
CREATE INDEX "walks_shares" ON "sync"."walks" USING btree ("run_id") WHERE read_to is not null;--> statement-breakpoint
COMMENT ON COLUMN "sync"."walks"."read_from" IS 'The walk read the builds dated before this again, as its share of a round; infinity at the begin of a round; null without a share.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."walks"."read_to" IS 'The walk read the builds dated after this again; -infinity at the end of a round; null without a share.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."walks"."read_since" IS 'Since when every build was read at least once, after the share of this walk; null without a share.';

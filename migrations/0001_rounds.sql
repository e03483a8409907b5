-- not additive: an older program writes the columns of its shares, which go
CREATE TABLE "sync"."rounds" (
	"resource" text PRIMARY KEY NOT NULL,
	"began_run_id" bigint,
	"started_at" timestamp(6) with time zone,
	"records" bigint,
	"checkpoint" jsonb,
	"total_count" bigint,
	"nights" jsonb,
	"earlier" jsonb DEFAULT '[]'::jsonb NOT NULL
);
--> statement-breakpoint
DROP INDEX "sync"."walks_shares";--> statement-breakpoint
ALTER TABLE "sync"."walks" DROP COLUMN "read_from";--> statement-breakpoint
ALTER TABLE "sync"."walks" DROP COLUMN "read_to";--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "round_records" bigint;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "round_reason" text;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "search_requests" integer;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "search_is_done" boolean;--> statement-breakpoint
CREATE INDEX "walks_read" ON "sync"."walks" USING btree ("resource","run_id") WHERE read_since is not null;--> statement-breakpoint
COMMENT ON TABLE sync.rounds IS 'The walks of whole lists that rest each night; all but earlier is null while none is under way.';
COMMENT ON COLUMN sync.rounds.resource IS 'The list.';
COMMENT ON COLUMN sync.rounds.began_run_id IS 'The run in which the round began.';
COMMENT ON COLUMN sync.rounds.started_at IS 'When it began.';
COMMENT ON COLUMN sync.rounds.records IS 'The records that it has covered.';
COMMENT ON COLUMN sync.rounds.checkpoint IS 'Where it goes on: the number of the next page, and its request.';
COMMENT ON COLUMN sync.rounds.total_count IS 'What the service counted when it came there.';
COMMENT ON COLUMN sync.rounds.nights IS 'Its nights: when each began, and records of the first page that it read.';
COMMENT ON COLUMN sync.rounds.earlier IS 'The nights of the round before.';
COMMENT ON COLUMN sync.walks.round_records IS 'The records that were read again below the head, as a night of a round; null without one.';
COMMENT ON COLUMN sync.walks.round_reason IS 'Why that night read nothing, broke off, or ended its round unproven; null where it did none of these.';
COMMENT ON COLUMN sync.walks.search_requests IS 'The requests of a search for differences below the head; null without a search.';
COMMENT ON COLUMN sync.walks.search_is_done IS 'Whether the search settled them; null without a search.';
COMMENT ON COLUMN sync.walks.read_since IS 'Since when every record was read at least once, after this walk; null where it ended neither a whole reading nor a round.';

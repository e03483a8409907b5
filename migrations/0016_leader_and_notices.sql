-- additive: three new tables
CREATE TABLE "sync"."leader" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"term" bigint NOT NULL,
	"instance" text NOT NULL,
	"pid" integer NOT NULL,
	"host" text NOT NULL,
	"backend_pid" integer NOT NULL,
	"since" timestamp(6) with time zone NOT NULL,
	"heartbeat_at" timestamp(6) with time zone NOT NULL,
	"resigned_at" timestamp(6) with time zone,
	CONSTRAINT "leader_one_row" CHECK ("sync"."leader"."id")
);
--> statement-breakpoint
CREATE TABLE "sync"."notice_marks" (
	"source" text PRIMARY KEY NOT NULL,
	"position" text NOT NULL,
	"marked_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync"."notices" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."notices_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"message_id" text DEFAULT 'msg_' || replace(gen_random_uuid()::text, '-', '') NOT NULL,
	"subject" text NOT NULL,
	"type" text NOT NULL,
	"data" jsonb NOT NULL,
	"noted_at" timestamp(6) with time zone DEFAULT now() NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamp(6) with time zone DEFAULT now() NOT NULL,
	"delivered_at" timestamp(6) with time zone,
	"given_up_at" timestamp(6) with time zone,
	"error" text,
	CONSTRAINT "notices_message_id_unique" UNIQUE("message_id"),
	CONSTRAINT "notices_subject_unique" UNIQUE("subject")
);
--> statement-breakpoint
CREATE INDEX "notices_waiting" ON "sync"."notices" USING btree ("next_try_at") WHERE delivered_at is null and given_up_at is null;
CREATE TABLE "sync"."page_sizes" (
	"resource" text PRIMARY KEY NOT NULL,
	"page_size" integer NOT NULL,
	"shrunk_at" timestamp(6) with time zone,
	"service" boolean NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sync"."page_sizes" ADD CONSTRAINT "page_sizes_service_service_id_fk" FOREIGN KEY ("service") REFERENCES "sync"."service"("id") ON DELETE cascade ON UPDATE no action;
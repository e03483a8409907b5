-- additive: a new table
CREATE TABLE "sync"."muted_projects" (
	"project_slug" text PRIMARY KEY NOT NULL,
	"until" timestamp(6) with time zone NOT NULL,
	"muted_at" timestamp(6) with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
COMMENT ON TABLE "sync"."muted_projects" IS 'Projects of which nothing is noted for a while.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."muted_projects"."project_slug" IS 'The slug of the project.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."muted_projects"."until" IS 'Until when.';--> statement-breakpoint
COMMENT ON COLUMN "sync"."muted_projects"."muted_at" IS 'When it was muted.';

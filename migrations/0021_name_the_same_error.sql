-- not additive: it replaces an index and the key of a stored answer, which an older program goes by
DROP INDEX "rollup"."builds_failed_day";--> statement-breakpoint
ALTER TABLE "rollup"."errors" ADD COLUMN "error_line_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup"."errors" DROP CONSTRAINT "errors_error_fingerprint_project_id_error_class_pk";--> statement-breakpoint
ALTER TABLE "rollup"."errors" ADD CONSTRAINT "errors_key" PRIMARY KEY("error_fingerprint","project_id","error_class","error_line_id");--> statement-breakpoint
ALTER TABLE "rollup"."builds" ADD COLUMN "masked_line" text;--> statement-breakpoint
ALTER TABLE "rollup"."builds" ADD COLUMN "error_line_id" text;--> statement-breakpoint
CREATE INDEX "builds_failed_line" ON "rollup"."builds" USING btree ("triggered_on","error_class","error_fingerprint","error_line_id","project_id") WHERE failed = 1;

-- additive: four columns that may be null; rows of older programs have none
ALTER TABLE "rollup"."recovery_times" ADD COLUMN "breaks" integer;--> statement-breakpoint
ALTER TABLE "rollup"."recovery_times" ADD COLUMN "breaks_recovered" integer;--> statement-breakpoint
ALTER TABLE "rollup"."recovery_times" ADD COLUMN "breaks_median_hours" double precision;--> statement-breakpoint
ALTER TABLE "rollup"."recovery_times" ADD COLUMN "breaks_p25_hours" double precision;

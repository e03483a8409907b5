-- additive: one new column that may be null
ALTER TABLE "sync"."missing_records" ADD COLUMN "gone_at" timestamp(6) with time zone;
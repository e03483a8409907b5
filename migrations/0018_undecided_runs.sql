-- additive: one new column with a constant default
ALTER TABLE "sync"."missing_records" ADD COLUMN "undecided_runs" integer DEFAULT 0 NOT NULL;
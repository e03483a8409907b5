-- additive: a column of a stored answer that may be null
ALTER TABLE "rollup"."errors" ADD COLUMN "masked_line" text;
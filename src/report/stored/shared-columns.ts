import { doublePrecision, integer } from "drizzle-orm/pg-core";

export const counts = () => ({
  builds: integer().notNull(),
  finished: integer().notNull(),
  succeeded: integer().notNull(),
  failed: integer().notNull(),
});

/** The bounds of percentiles, in seconds. */
export const percentiles = () => ({
  p50_s_min: doublePrecision(),
  p50_s_max: doublePrecision(),
  p90_s_min: doublePrecision(),
  p90_s_max: doublePrecision(),
  p95_s_min: doublePrecision(),
  p95_s_max: doublePrecision(),
});

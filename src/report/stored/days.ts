import { date, doublePrecision, integer } from "drizzle-orm/pg-core";
import { rollup } from "../../store/schema/schemas.ts";
import { affected, stored } from "../declare-stored.ts";
import { counts, percentiles } from "./shared-columns.ts";

export const days = rollup.table("days", {
  day: date({ mode: "string" }).primaryKey(),
  ...counts(),
  unsettled: integer().notNull(),
  projects: integer().notNull(),
  success_rate_project_mean: doublePrecision(),
  /** Builds that finished, whatever their result. The percentiles are those of their times. */
  measured: integer().notNull(),
  ...percentiles(),
  stuck: integer().notNull().default(0),
});

export const DAYS = stored(days, affected("day"));

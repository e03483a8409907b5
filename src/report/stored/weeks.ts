import { date, doublePrecision, integer } from "drizzle-orm/pg-core";
import { rollup } from "../../store/schema/schemas.ts";
import { affected, stored } from "../declare-stored.ts";
import { counts } from "./shared-columns.ts";

export const weeks = rollup.table("weeks", {
  week: date({ mode: "string" }).primaryKey(),
  ...counts(),
  unsettled: integer().notNull(),
  projects: integer().notNull(),
  success_rate_project_mean: doublePrecision(),
  stuck: integer().notNull().default(0),
});

export const WEEKS = stored(weeks, affected("week"));

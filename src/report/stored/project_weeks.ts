import { date, index, integer, primaryKey } from "drizzle-orm/pg-core";
import { idText } from "../../store/schema/columns.ts";
import { rollup } from "../../store/schema/schemas.ts";
import { affected, stored } from "../declare-stored.ts";
import { counts } from "./shared-columns.ts";

export const projectWeeks = rollup.table(
  "project_weeks",
  {
    project_id: idText().notNull(),
    week: date({ mode: "string" }).notNull(),
    ...counts(),
    active_days: integer().notNull(),
    failure_days: integer().notNull(),
    unsettled: integer().notNull(),
    stuck: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.week] }),
    index("project_weeks_week").on(table.week),
  ],
);

export const PROJECT_WEEKS = stored(projectWeeks, affected("project_id", "week"), ["week", "project_id"]);

import { date, index, integer, primaryKey } from "drizzle-orm/pg-core";
import { idText } from "../../store/schema/columns.ts";
import { rollup } from "../../store/schema/schemas.ts";
import { affected, stored } from "../declare-stored.ts";
import { counts } from "./shared-columns.ts";

export const projectDays = rollup.table(
  "project_days",
  {
    project_id: idText().notNull(),
    day: date({ mode: "string" }).notNull(),
    ...counts(),
    unsettled: integer().notNull(),
    stuck: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.day] }),
    index("project_days_day").on(table.day),
  ],
);

export const PROJECT_DAYS = stored(projectDays, affected("project_id", "day"), ["day", "project_id"]);

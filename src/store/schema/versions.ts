import { sql } from "drizzle-orm";
import { boolean, index, text } from "drizzle-orm/pg-core";
import { bookkeeping, idText, listIndex } from "./columns.ts";
import { projects } from "./projects.ts";
import { mirror } from "./schemas.ts";

export const versions = mirror.table(
  "versions",
  {
    id: idText().primaryKey(),
    resource_uri: text(),
    slug: text(),
    verbose_name: text(),
    identifier: text(),
    active: boolean(),
    built: boolean(),
    uploaded: boolean(),
    project_id: idText().references(() => projects.id),
    ...bookkeeping(),
  },
  (table) => [
    index("versions_project_id").on(table.project_id),
    listIndex("versions_list", table, sql`left(coalesce(verbose_name, ''), 300) collate "C" desc`),
  ],
);

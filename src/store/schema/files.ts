import { sql } from "drizzle-orm";
import { index, text } from "drizzle-orm/pg-core";
import { bookkeeping, idText, listIndex } from "./columns.ts";
import { projects } from "./projects.ts";
import { mirror } from "./schemas.ts";

export const files = mirror.table(
  "files",
  {
    id: idText().primaryKey(),
    resource_uri: text(),
    absolute_url: text(),
    name: text(),
    path: text(),
    project_id: idText().references(() => projects.id),
    ...bookkeeping(),
  },
  (table) => [
    index("files_project_id").on(table.project_id),
    listIndex("files_list", table),
    // A search leaves deleted files out. They are few, so it reads this index instead of the table.
    index("files_deleted").on(table.id).where(sql`deleted_at is not null`),
  ],
);

import { index, text } from "drizzle-orm/pg-core";
import { bookkeeping, idText } from "./columns.ts";
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
  (table) => [index("files_project_id").on(table.project_id)],
);

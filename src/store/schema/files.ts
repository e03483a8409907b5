import { sql } from "drizzle-orm";
import { index } from "drizzle-orm/pg-core";
import { file } from "../../resources/file.ts";
import { bookkeeping } from "./columns.ts";
import { projects } from "./projects.ts";
import { columnsOf, indexesOf } from "./record-columns.ts";
import { mirror } from "./schemas.ts";

export const files = mirror.table(
  "files",
  { ...columnsOf(file, { project: projects }), ...bookkeeping() },
  (table) => [
    ...indexesOf(file, table),
    // A search leaves deleted files out. They are few, so it reads this index instead of the table.
    index("files_deleted").on(table.id).where(sql`deleted_at is not null`),
  ],
);

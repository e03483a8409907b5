import { boolean, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { project } from "../../resources/project.ts";
import { bookkeeping, idText } from "./columns.ts";
import { columnsOf, indexesOf } from "./record-columns.ts";
import { mirror } from "./schemas.ts";
import { users } from "./users.ts";

/** Where a copy of a project came from. An embedded copy may show a project that the list hides. */
export type ProjectSource = "list" | "detail" | "embedded";

export const projects = mirror.table(
  "projects",
  {
    ...columnsOf(project, {}),
    /** Where the stored content came from. */
    source: text().$type<ProjectSource>().notNull(),
    /**
     * Whether the list has ever shown it. A project that was only embedded cannot be missing from the list.
     */
    listed: boolean().notNull(),
    ...bookkeeping(),
  },
  (table) => [
    ...indexesOf(project, table),
    // A hash index has no limit on the length of a slug. A B-tree rejects values over 2,704 bytes.
    index("projects_slug").using("hash", table.slug),
  ],
);

/** The administrators of a project, in the order of its record. */
export const projectUsers = mirror.table(
  "project_users",
  {
    project_id: idText()
      .notNull()
      .references(() => projects.id),
    position: integer().notNull(),
    user_uri: text(),
    user_id: idText().references(() => users.id),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.position] }),
    index("project_users_user_id").on(table.user_id),
  ],
);

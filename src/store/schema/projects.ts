import { sql } from "drizzle-orm";
import { boolean, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { bookkeeping, idText, listIndex, localTimestamp } from "./columns.ts";
import { mirror } from "./schemas.ts";
import { users } from "./users.ts";

/** Where a copy of a project came from. An embedded copy may show a project that the list hides. */
export type ProjectSource = "list" | "detail" | "embedded";

export const projects = mirror.table(
  "projects",
  {
    id: idText().primaryKey(),
    resource_uri: text(),
    absolute_url: text(),
    name: text(),
    slug: text(),
    description: text(),
    analytics_code: text(),
    copyright: text(),
    pkgindex_url: text(),
    pkgdirectory_url: text(),
    default_branch: text(),
    default_version: text(),
    documentation_type: text(),
    project_url: text(),
    repo: text(),
    repo_type: text(),
    requirements_file: text(),
    subdomain: text(),
    suffix: text(),
    theme: text(),
    use_virtualenv: boolean(),
    modified_date: localTimestamp(),
    pub_date: localTimestamp(),
    version: text(),
    /** Where the stored content came from. */
    source: text().$type<ProjectSource>().notNull(),
    /**
     * Whether the list has ever shown it. A project that was only embedded cannot be missing from the list.
     */
    listed: boolean().notNull(),
    ...bookkeeping(),
  },
  // A hash index has no limit on the length of a slug. A B-tree rejects values over 2,704 bytes.
  (table) => [
    index("projects_slug").using("hash", table.slug),
    listIndex("projects_list", table, sql`left(coalesce(slug, ''), 300) collate "C"`),
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

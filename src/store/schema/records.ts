/** The mirrored tables: one for each resource, named as it is with an `s`, and those for values that its row does not hold. */
import { sql } from "drizzle-orm";
import { boolean, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { build, file, project, user, version } from "../../resources/resources.ts";
import { bookkeeping, bytea, idText, mirror, moment, wholeNumber } from "./columns.ts";
import { columnsOf, indexesOf, longColumnsOf } from "./record-columns.ts";

export const users = mirror.table("users", { ...columnsOf(user, {}), ...bookkeeping() }, (table) =>
  indexesOf(user, table),
);

/** Where a copy of a project came from. An embedded copy may show a project that the list hides. */
export type ProjectSource = "list" | "detail" | "embedded";

export const projects = mirror.table(
  "projects",
  {
    ...columnsOf(project, {}),
    source: text().$type<ProjectSource>().notNull(),
    /** A project that was only embedded cannot be missing from the list. */
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

export const versions = mirror.table(
  "versions",
  { ...columnsOf(version, { project: projects }), ...bookkeeping() },
  (table) => indexesOf(version, table),
);

export const files = mirror.table(
  "files",
  { ...columnsOf(file, { project: projects }), ...bookkeeping() },
  (table) => [
    ...indexesOf(file, table),
    // A search leaves deleted files out. They are few, so it reads this index instead of the table.
    index("files_deleted").on(table.id).where(sql`deleted_at is not null`),
  ],
);

export const builds = mirror.table(
  "builds",
  {
    ...columnsOf(build, { project: projects, version: versions }),
    ...bookkeeping(),
    /** Of the builds that had this id, one after another, the number of this one. */
    life: integer().notNull().default(1),
  },
  (table) => [
    ...indexesOf(build, table),
    index("builds_given_again").on(table.first_seen_at).where(sql`life > 1`),
  ],
);

/**
 * The versions that builds had when the service sent null in their place, as it does once a version is deleted. Kept apart, because
 * `builds` shows what was sent.
 */
export const keptVersions = mirror.table(
  "kept_versions",
  {
    build_id: idText().primaryKey(),
    version_id: idText().notNull(),
  },
  (table) => [index("kept_versions_version_id").on(table.version_id)],
);

/** The long texts of a build, in their own table so that scans of `builds` stay fast. */
export const buildLogs = mirror.table("build_logs", {
  build_id: idText()
    .primaryKey()
    .references(() => builds.id),
  ...longColumnsOf(build),
});

/** The files of exports that hold logs which were removed here. A file is known by its content. */
export const logFiles = mirror.table("log_files", {
  id: wholeNumber().primaryKey().generatedAlwaysAsIdentity(),
  sha256: bytea().notNull().unique(),
  folder: text().notNull(),
  path: text().notNull(),
});

/** Builds whose log is not in `build_logs` any more. */
export const archivedLogs = mirror.table("archived_logs", {
  build_id: idText()
    .primaryKey()
    .references(() => builds.id),
  file_id: wholeNumber()
    .notNull()
    .references(() => logFiles.id),
  hash: bytea().notNull(),
  error_line: text(),
  removed_at: moment().notNull(),
});

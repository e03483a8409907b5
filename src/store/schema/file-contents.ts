import { customType, index, integer, jsonb, primaryKey, smallint, text } from "drizzle-orm/pg-core";
import { bytea, idText, mirror, moment, runId } from "./columns.ts";
import { files, projects } from "./records.ts";

const tsvector = customType<{ data: string }>({ dataType: () => "tsvector" });

/** A place within a page that a link can name. */
export interface Anchor {
  /** The part of the address after the `#`. */
  id: string;
  /** The heading or term that stands there, in one line. */
  text: string;
}

/**
 * The pages of the files, as `docmirror sync --content` last read them (`docs/content.md`). A row is in the
 * index of the searches exactly when `search` is not null.
 */
export const fileContents = mirror.table(
  "file_contents",
  {
    file_id: idText()
      .primaryKey()
      .references(() => files.id),
    /** The project of the file, stored again so that a search need not join. */
    project_id: idText().references(() => projects.id),
    version: text(),
    absolute_url: text(),
    /** The base of all pages then, without credentials. Another base makes the page due again. */
    docs_url: text().notNull(),
    url: text(),
    http_status: smallint(),
    reason: text(),
    title: text(),
    text: text(),
    anchors: jsonb().$type<Anchor[]>(),
    /** The validators of the reply with this content, as sent. */
    etag: text(),
    last_modified: text(),
    fetched_at: moment(),
    asked_at: moment().notNull(),
    asked_run_id: runId(),
    changed_run_id: runId(),
    content_hash: bytea(),
    title_key: text(),
    title_search: tsvector(),
    search: tsvector(),
  },
  (table) => [
    // Without the list of pending entries, so that a search after a sync is as fast as later ones.
    index("file_contents_search").using("gin", table.search).with({ fastupdate: false }),
    index("file_contents_project_id").on(table.project_id),
  ],
);

/** The words of each anchor, for the anchor search. `position` counts `file_contents.anchors` from 0. */
export const fileAnchors = mirror.table(
  "file_anchors",
  {
    file_id: idText()
      .notNull()
      .references(() => fileContents.file_id, { onDelete: "cascade" }),
    position: integer().notNull(),
    search: tsvector().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.file_id, table.position] }),
    index("file_anchors_search").using("gin", table.search).with({ fastupdate: false }),
  ],
);

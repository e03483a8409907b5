import { bigint, customType, index, integer, jsonb, primaryKey, smallint, text } from "drizzle-orm/pg-core";
import { bytea, idText, moment } from "./columns.ts";
import { files, projects } from "./records.ts";
import { mirror } from "./schemas.ts";

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
    /** The slug of the version that the address names, or null. A file record does not say it. */
    version: text(),
    /** As the record had it when the page was last asked for. */
    absolute_url: text(),
    /** The base of all pages then, without credentials. Another base makes the page due again. */
    docs_url: text().notNull(),
    /** What was requested, without credentials. Null when the address leads elsewhere. */
    url: text(),
    /** The status of the last reply. Null without one. */
    http_status: smallint(),
    /** Why the last request gave no page. Null when it gave one, or said that it is unchanged. */
    reason: text(),
    title: text(),
    text: text(),
    anchors: jsonb().$type<Anchor[]>(),
    /** The validators of the reply with this content, as sent. */
    etag: text(),
    last_modified: text(),
    /** When the reply with this content arrived. */
    fetched_at: moment(),
    /** When the page was last asked for, whatever the answer was. */
    asked_at: moment().notNull(),
    /** The run that last asked. */
    asked_run_id: bigint({ mode: "number" }).notNull(),
    /** The run that last changed the content. */
    changed_run_id: bigint({ mode: "number" }).notNull(),
    /** The first 16 bytes of a hash of title, text and anchors. */
    content_hash: bytea(),
    /** The title as a search compares it, cut to 200 characters. */
    title_key: text(),
    title_search: tsvector(),
    /** Title (weight A) and text. */
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

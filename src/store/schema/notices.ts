import { sql } from "drizzle-orm";
import { bigint, index, integer, jsonb, text } from "drizzle-orm/pg-core";
import type { NoticeType } from "../../base/config/setting.ts";
import { moment, now } from "./columns.ts";
import { sync } from "./schemas.ts";

/**
 * The outbox of the webhook. A notice is stored before it is sent and stays until the receiver has confirmed it, so
 * it arrives at least once. Receivers tell repetitions by `message_id`.
 */
export const notices = sync.table(
  "notices",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    /** The `webhook-id` of each try. */
    message_id: text().notNull().unique().default(sql`'msg_' || replace(gen_random_uuid()::text, '-', '')`),
    /** What it is about, in a word that never comes twice, so that nothing is noted twice. */
    subject: text().notNull().unique(),
    type: text().$type<NoticeType>().notNull(),
    /** The `data` of the message. */
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    noted_at: moment().notNull().default(now),
    tries: integer().notNull().default(0),
    /** The next try is not before this moment. */
    next_try_at: moment().notNull().default(now),
    delivered_at: moment(),
    /** When it was given up after its last try. */
    given_up_at: moment(),
    /** Why the last try failed. Null when none failed. */
    error: text(),
  },
  (table) => [
    index("notices_waiting").on(table.next_try_at).where(sql`delivered_at is null and given_up_at is null`),
  ],
);

/** Up to where each source of notices was looked through. Without a row, what is there now is not news. */
export const noticeMarks = sync.table("notice_marks", {
  source: text().primaryKey(),
  /** A place in the order of the source, such as the number of a run. */
  position: text().notNull(),
  marked_at: moment().notNull().default(now),
});

/** Projects of which nothing is noted for a while (`docmirror notify --mute`). */
export const mutedProjects = sync.table("muted_projects", {
  project_slug: text().primaryKey(),
  until: moment().notNull(),
  muted_at: moment().notNull().default(now),
});

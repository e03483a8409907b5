/** The tables of the worker beside its runs: the place of the database, notices, and the ends of jobs. */
import { sql } from "drizzle-orm";
import { bigint, index, integer, jsonb, text } from "drizzle-orm/pg-core";
import type { NoticeType } from "../../base/config/setting.ts";
import type { UpkeepJob } from "../../base/metrics/labels.ts";
import { moment, now, sync } from "./columns.ts";

/** The places of this database: the first run that ended there, and the parts that make it another one (`database-place.ts`). */
export const places = sync.table("places", {
  run_id: bigint({ mode: "number" }).primaryKey(),
  place: jsonb().$type<Record<string, string | null>>().notNull(),
  noted_at: moment().notNull().default(now),
});

/**
 * The outbox of the webhook. A notice is stored before it is sent and stays until the receiver has confirmed it, so
 * it arrives at least once. Receivers know repetitions by `message_id`.
 */
export const notices = sync.table(
  "notices",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    message_id: text().notNull().unique().default(sql`'msg_' || replace(gen_random_uuid()::text, '-', '')`),
    /** A word that never comes twice, so that nothing is noted twice. */
    subject: text().notNull().unique(),
    type: text().$type<NoticeType>().notNull(),
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    noted_at: moment().notNull().default(now),
    tries: integer().notNull().default(0),
    next_try_at: moment().notNull().default(now),
    delivered_at: moment(),
    given_up_at: moment(),
    error: text(),
  },
  (table) => [
    index("notices_waiting").on(table.next_try_at).where(sql`delivered_at is null and given_up_at is null`),
  ],
);

/** Up to where each source of notices was looked through. Without a row, what is there now is not news. */
export const noticeMarks = sync.table("notice_marks", {
  source: text().primaryKey(),
  position: text().notNull(),
  marked_at: moment().notNull().default(now),
});

/** Projects of which nothing is noted for a while (`docmirror notify --mute`). */
export const mutedProjects = sync.table("muted_projects", {
  project_slug: text().primaryKey(),
  until: moment().notNull(),
  muted_at: moment().notNull().default(now),
});

/** The last end of each job of the upkeep. */
export const jobs = sync.table("jobs", {
  job: text().$type<UpkeepJob>().primaryKey(),
  /** The begin of the last good run; null where none was good. It wrote `what`: a file, or folders without their bytes. */
  good_at: moment(),
  what: text(),
  bytes: bigint({ mode: "number" }),
  /** The first failure since then. Null after a good run, as `error` is. */
  failed_at: moment(),
  error: text(),
  /** In a row. */
  failures: integer().notNull().default(0),
});

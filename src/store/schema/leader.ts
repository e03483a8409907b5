import { sql } from "drizzle-orm";
import { bigint, boolean, check, integer, text } from "drizzle-orm/pg-core";
import { moment } from "./columns.ts";
import { sync } from "./schemas.ts";

/**
 * Which process leads: it alone runs the schedule of the mirror. The lock says who may lead, and this row says
 * whether the one who has the lock is still alive. A frozen process keeps its lock, but its heartbeat stops.
 */
export const leader = sync.table(
  "leader",
  {
    /** Always true, so there is one row. */
    id: boolean().primaryKey().default(true),
    /** Counts the takeovers. */
    term: bigint({ mode: "number" }).notNull(),
    /** A random name of the process. All of its connections end their application name with it. */
    instance: text().notNull(),
    pid: integer().notNull(),
    host: text().notNull(),
    /** The session that has the lock, as the server knows it. */
    backend_pid: integer().notNull(),
    since: moment().notNull(),
    /** By the clock of Postgres. Written every few seconds. */
    heartbeat_at: moment().notNull(),
    /** When it ended its lead by itself. Null while it leads, or when it died. */
    resigned_at: moment(),
  },
  (table) => [check("leader_one_row", sql`${table.id}`)],
);

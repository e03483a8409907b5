import { pgSchema } from "drizzle-orm/pg-core";

// The migrations say what each table and column means (`comment on`). A comment here says why it is so.

/** The records of upstream, under upstream's names. */
export const mirror = pgSchema("mirror");
/** How the mirror was read: runs, walks, and records that could not be stored. */
export const sync = pgSchema("sync");
/** The reports: everything that a BI tool needs, and all that its role may read. */
export const report = pgSchema("report");
/** Stored answers for the views of `report`. */
export const rollup = pgSchema("rollup");

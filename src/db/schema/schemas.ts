import { pgSchema } from "drizzle-orm/pg-core";

/** What upstream has, in upstream's own names. */
export const mirror = pgSchema("mirror");
/** How it came here: runs, walks, and what could not be stored. */
export const sync = pgSchema("sync");
/** What it means: all that a BI tool needs, and all that its role may read. */
export const report = pgSchema("report");
/** Stored answers behind the views of `report`. */
export const rollup = pgSchema("rollup");

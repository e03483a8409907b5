import { pgSchema } from "drizzle-orm/pg-core";

/** What upstream has, in upstream's own names. */
export const mirror = pgSchema("mirror");
/** How it came here: runs, walks, and what could not be stored. */
export const sync = pgSchema("sync");

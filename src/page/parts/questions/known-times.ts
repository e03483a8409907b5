import { type SQL, sql } from "drizzle-orm";
import { inline } from "../../../report/ask.ts";

/**
 * A time between two bounds is shown where they are so near each other, in seconds. Wider bounds tell when somebody
 * looked, not how long a build took. A watch looks each minute.
 */
const KNOWN_WITHIN_S = 300;
export const KNOWN_WITHIN = "five minutes";

/** Whether the bounds of a time are near enough. */
export const isKnownTime = (least: SQL, most: SQL): SQL =>
  sql`${most} - ${least} <= ${inline(KNOWN_WITHIN_S)}`;

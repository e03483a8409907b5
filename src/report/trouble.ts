/** Trouble of the platform as of a moment. The page of now and the notices ask for it by the same hours. */
import { type SQL, sql } from "drizzle-orm";

/** An hour of trouble counts for as many hours after it. */
const HOURS_BEFORE = 3;

/** True where an event at a time counts for the trouble at a moment. */
export const countsForTrouble = (time: SQL, moment: SQL, hoursBefore = HOURS_BEFORE): SQL =>
  sql`${time} >= date_trunc('hour', ${moment}, 'UTC') - interval '${sql.raw(String(hoursBefore))} hours' and ${time} <= ${moment}`;

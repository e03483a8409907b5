/** Trouble of the platform as of a moment. The page of now and the notices ask it by this one question. */
import { type SQL, sql } from "drizzle-orm";
import { relation } from "./ask.ts";

const incident = relation("incident_hours");

/** An hour of trouble counts for as many hours after it. */
const HOURS_BEFORE = 3;

/** The first hour that counts at a moment. */
export const troubleFrom = (moment: SQL, hoursBefore = HOURS_BEFORE): SQL =>
  sql`date_trunc('hour', ${moment}, 'UTC') - interval '${sql.raw(String(hoursBefore))} hours'`;

/** The newest hour of trouble that counts at a moment: all of a statement over `incident_hours` that follows its columns. */
export const newestTrouble = (moment: SQL, hoursBefore = HOURS_BEFORE): SQL => sql`from ${incident}
where ${incident.hour} >= ${troubleFrom(moment, hoursBefore)} and ${incident.hour} <= ${moment}
order by ${incident.hour} desc
limit 1`;

/** Trouble of the platform: hours in which far more projects failed than usual. */
import type { SQL } from "drizzle-orm";
import { ask, inline } from "../../report/ask.ts";
import { type Asks, question } from "./answers.ts";

export interface Incident {
  readonly hour: string;
  readonly projects: number;
  readonly projects_failing: number;
  readonly projects_expected: number;
  /** The number of all such hours. */
  readonly hours: number;
}

/** The trouble of the platform that a moment is in: a row of `report.platform_trouble`. */
export interface Trouble extends Omit<Incident, "hours"> {
  /** Its first hour; `hour` is the newest, and `until` the end of that, or the moment where it is not over. */
  readonly since: string;
  readonly until: string;
}

/** None where no hour of so many before the moment had any. */
export const askForTroubleAt = (moment: string, hours: number): Asks<Trouble> => ask`
select since, hour, until, projects, projects_failing, projects_expected
from report.platform_trouble(${moment}::timestamptz, ${inline(hours)})`;

const HOURS_LOOKED_AT = question<{ readonly looked_at: number }>("hours_looked_at", import.meta.url);

/**
 * The number of hours in which twenty projects or more built: in those trouble shows when half of them or a few more fail. From eight on it
 * shows too, but only when nearly all do. `isShown` is about builds.
 */
export const askForHoursLookedAt = (isShown: SQL) => HOURS_LOOKED_AT({ isShown });

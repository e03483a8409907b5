/** Trouble of the platform: hours in which far more projects failed than usual. */
import type { SQL } from "drizzle-orm";
import { ask, inline, onPage, pick, relation } from "../../report/ask.ts";
import type { Asks } from "./answers.ts";

const incident = relation("incident_hours");
const build = relation("fact_builds");

export interface Incident {
  readonly hour: string;
  readonly projects: number;
  readonly projects_failing: number;
  readonly projects_expected: number;
  /** The number of all such hours. */
  readonly hours: number;
}

/** The hours with trouble that `isShown` holds for, the newest first. */
export const askForIncidents = (isShown: (hour: SQL) => SQL, most: number): Asks<Incident> =>
  ask`
select ${pick(incident, "hour", "projects", "projects_failing", "projects_expected")}${onPage`, count(*) over () as hours`}
from ${incident}
where ${isShown(incident.hour)}
order by ${incident.hour} desc${onPage`\nlimit ${inline(most)}`}`;

/** The trouble of the platform that a moment is in: a row of `report.platform_trouble`. */
export interface Trouble extends Omit<Incident, "hours"> {
  /** Its first hour; `hour` is the newest, and `until` the end of that, or the moment where it is not over. */
  readonly since: string;
  readonly until: string;
}

/** None where no hour of so many before the moment had any. */
export const askForTroubleAt = (moment: SQL, hours: number): Asks<Trouble> => ask`
select since, hour, until, projects, projects_failing, projects_expected
from report.platform_trouble(${moment}, ${inline(hours)})`;

/** The number of hours in which eight projects or more built, which it takes to show trouble; `isShown` is about builds. */
export const askForHoursLookedAt = (isShown: SQL): Asks<{ readonly looked_at: number }> => ask`
select count(*) as looked_at
from (
  select date_trunc('hour', ${build.triggered_at})
  from ${build}
  where ${build.succeeded} is not null and ${build.project_id} <> '-1'
    and ${isShown}
  group by 1
  having count(distinct ${build.project_id}) >= 8
) as hour`;

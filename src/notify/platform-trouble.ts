import { compose } from "../store/connection/run-statement.ts";
import { insertNotices, type LookSettings, type NoticeSource } from "./source.ts";

/** The newest hour of trouble of the last three, which the page of now names too. */
const newest = ({ now }: LookSettings) => compose`
  newest as (
    select * from report.incident_hours
    where hour >= date_trunc('hour', ${now}::timestamptz, 'UTC') - interval '3 hours' and hour <= ${now}::timestamptz
    order by hour desc limit 1
  )`;
const POSITION = compose`(select hour::text from newest)`;
const clock = (moment: string) => compose`to_char((${compose.raw(moment)}) at time zone 'UTC', 'HH24:MI')`;

/** Trouble of the platform. The mark holds its newest hour: as long as no three hours lie between, it is one trouble, and one notice. */
export const platformTrouble: NoticeSource = {
  name: "platform",
  begin: (settings) =>
    compose`with ${newest(settings)} select coalesce(${POSITION}, '-infinity') as position`,
  look: (settings, position) => compose`
    with ${newest(settings)}, noted as (
      ${insertNotices}
      select 'platform/' || to_char(hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24'), 'platform.trouble', jsonb_build_object(
        'summary', format('The platform is in trouble: %s of %s projects failed between %s and %s UTC; %s would be usual.',
          projects_failing, projects, ${clock("hour")}, ${clock("hour + interval '1 hour'")}, round(projects_expected)),
        'hour', hour, 'projects', projects, 'projects_failing', projects_failing,
        'projects_expected', round(projects_expected::numeric, 1), 'builds', builds, 'failed', failed)
      from newest where hour > ${position}::text::timestamptz + interval '3 hours'
      on conflict (subject) do nothing
      returning 1
    )
    select (select count(*) from noted)::int as noted, coalesce(${POSITION}, ${position}::text) as position`,
};

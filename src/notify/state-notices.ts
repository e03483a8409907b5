/** Notices of what is so now: lists that are stale, builds that do not come, trouble of the platform, jobs that fail. */
import type { SQL } from "drizzle-orm";
import { countsForTrouble } from "../report/trouble.ts";
import { RESOURCES } from "../resources/resources.ts";
import { compose } from "../store/connection/sql.ts";
import { jobs, runs, walks } from "../store/schema/index.ts";
import { cut, inWords, type LookSettings, type NoticeSource } from "./source.ts";

/**
 * The lists that are stale now, each with its last good moment, when its walk began, which differs from one staleness to the next. A list that
 * a wrong clock dated ahead counts as stale, because its age is not known. One that was never read well is stale when the
 * first run is that old.
 */
const stale = ({ staleAfterMs, now }: LookSettings): SQL => compose`
  stale as (
    select of.resource, good.started_at as last_good_at, coalesce(good.started_at::text, 'never') as since
    from unnest(${compose.param(RESOURCES)}::text[]) as of (resource)
    left join lateral (
      select least(${walks.started_at}, ${walks.finished_at}) as started_at from ${walks}
      where ${walks.resource} = of.resource and ${walks.is_good} order by ${walks.run_id} desc limit 1
    ) as good on true
    where coalesce(good.started_at, (select ${runs.started_at} from ${runs} order by ${runs.id} limit 1))
        < ${now}::timestamptz - ${staleAfterMs}::float8 * interval '1 ms'
      or good.started_at > ${now}::timestamptz + interval '5 minutes'
  )`;

const STALE_POSITION = compose`coalesce((select jsonb_object_agg(resource, since) from stale), '{}')::text as position`;
const LAST_GOOD = inWords(compose`last_good_at`);

/** Lists that went stale. The mark holds those that are, so a lasting staleness is one notice, however long it lasts. */
export const staleLists: NoticeSource = {
  name: "lists",
  begin: (settings) => compose`with ${stale(settings)} select ${STALE_POSITION}`,
  look: (settings, position) => ({
    facts: stale(settings),
    news: compose`
      select format('list/%s/%s', resource, since), 'list.stale', jsonb_build_object(
        'summary', case
          when last_good_at is null then format('The %s list was never read well.', resource)
          when last_good_at > ${settings.now}::timestamptz
            then format('The %s list was last read well at %s, which is in the future: a clock is or was wrong.',
              resource, ${LAST_GOOD})
          else format('The %s list was last read well at %s.', resource, ${LAST_GOOD}) end,
        'resource', resource, 'last_good_at', last_good_at, 'stale_after_s', ${settings.staleAfterMs}::float8 / 1000
      )
      from stale where ${position}::text::jsonb ->> resource is distinct from since
      order by resource`,
    next: STALE_POSITION,
  }),
};

const QUIET_POSITION = compose`case when state = 'quiet'
  then jsonb_build_object('build', last_build_id, 'at', last_build_at)::text else '{}' end as position`;
const LAST_BUILD = inWords(compose`last_build_at`);

/**
 * Builds that stopped arriving, and that arrive again, by `report.arrivals`. A mirror that has not looked within five minutes
 * knows nothing, so its mark stays. The mark holds the last build before the silence: one silence is one notice, and it
 * ends with a build that was triggered later.
 */
export const arrivals: NoticeSource = {
  name: "arrivals",
  begin: () => compose`select ${QUIET_POSITION} from report.arrivals`,
  look: ({ now }, position) => ({
    facts: compose`mark as (
      select ${position}::text as position, ${position}::text::jsonb ->> 'build' as build_id,
        (${position}::text::jsonb ->> 'at')::timestamptz as at
    ), fact as (
      select * from report.arrivals where reason is distinct from 'clock'
        and looked_at between ${now}::timestamptz - interval '5 minutes' and ${now}::timestamptz + interval '5 minutes'
    ), resumed as (
      select mark.*, (
        select min(triggered_at) from report.fact_builds
        where triggered_on >= (mark.at at time zone 'UTC')::date and triggered_at > mark.at and triggered_at <= looked_at
      ) as resumed_at
      from mark cross join fact where last_build_at > mark.at
    )`,
    news: compose`
      select 'builds/resumed/' || build_id, 'builds.resumed', jsonb_build_object(
        'summary', format('Builds come again: none came from %s to %s.', ${inWords(compose`at`)}, ${inWords(compose`resumed_at`)}),
        'last_build_id', build_id, 'quiet_since', at, 'resumed_at', resumed_at,
        'gap_s', extract(epoch from resumed_at - at)::float8)
      from resumed
      union all
      select 'builds/quiet/' || last_build_id, 'builds.quiet', jsonb_build_object(
        'summary', format('No build came since %s; usually %s come in that time%s. The service answers, and lists no newer one.',
          ${LAST_BUILD}, usual_since, case when gap_s > 86400 then ' of a day' else '' end),
        'last_build_id', last_build_id, 'last_build_at', last_build_at, 'looked_at', looked_at, 'gap_s', gap_s,
        'longest_gap_s', longest_gap_s, 'usual', usual_since, 'fewest', fewest_since)
      from fact where state = 'quiet' and last_build_id is distinct from (select build_id from mark)`,
    // The same silence may be called otherwise after weeks.
    next: compose`
      case when last_build_at > mark.at or mark.at is null then fact.position else mark.position end as position
    from mark cross join (select *, ${QUIET_POSITION} from fact) as fact`,
  }),
};

/** The newest hour of trouble as of the last look. */
const NEWEST = compose`
  newest as (
    select trouble.* from report.freshness
    cross join lateral (
      select * from report.incident_hours
      where ${countsForTrouble(compose`hour`, compose`current_through`)}
      order by hour desc limit 1
    ) as trouble
    where resource = 'build'
  )`;
const TROUBLE_POSITION = compose`(select hour::text from newest)`;
const clock = (moment: string) => compose`to_char((${compose.raw(moment)}) at time zone 'UTC', 'HH24:MI')`;

/** Trouble of the platform. The mark holds its newest hour: as long as no three hours lie between, it is one trouble, and one notice. */
export const platformTrouble: NoticeSource = {
  name: "platform",
  begin: () => compose`with ${NEWEST} select coalesce(${TROUBLE_POSITION}, '-infinity') as position`,
  look: (_, position) => ({
    facts: NEWEST,
    news: compose`
      select 'platform/' || to_char(hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24'), 'platform.trouble', jsonb_build_object(
        'summary', format('The platform is in trouble: %s of %s projects failed between %s and %s UTC; %s would be usual.',
          projects_failing, projects, ${clock("hour")}, ${clock("hour + interval '1 hour'")}, round(projects_expected)),
        'hour', hour, 'projects', projects, 'projects_failing', projects_failing,
        'projects_expected', round(projects_expected::numeric, 1), 'builds', builds, 'failed', failed)
      from newest where hour > ${position}::text::timestamptz + interval '3 hours'`,
    next: compose`coalesce(${TROUBLE_POSITION}, ${position}::text) as position`,
  }),
};

const FAILING = compose`failing as (
  select ${jobs}.*, ${jobs.failed_at}::text as since from ${jobs} where ${jobs.failed_at} is not null
)`;
const FAILING_POSITION = compose`coalesce((select jsonb_object_agg(job, since) from failing), '{}')::text as position`;

/** Backups and exports that fail. The mark holds since when: until one is good again, its failures are one notice. */
export const failedJobs: NoticeSource = {
  name: "jobs",
  begin: () => compose`with ${FAILING} select ${FAILING_POSITION}`,
  look: (_, position) => ({
    facts: FAILING,
    news: compose`
      select format('job/%s/%s', job, since), 'job.failed', jsonb_build_object(
        'summary', format('The %s failed: %s. %s', job, rtrim(${cut(compose`error`, 300)}, '.'), case
          when good_at is null then 'None was good yet.'
          else format('The last good one began at %s.', ${inWords(compose`good_at`)}) end),
        'job', job, 'failed_at', failed_at, 'error', ${cut(compose`error`, 1000)}, 'last_good_at', good_at, 'last_good', what)
      from failing where ${position}::text::jsonb ->> job is distinct from since order by job`,
    next: FAILING_POSITION,
  }),
};

import { compose } from "../store/connection/run-statement.ts";
import { insertNotices, inWords, type NoticeSource } from "./source.ts";

const POSITION = compose`case when state = 'quiet'
  then jsonb_build_object('build', last_build_id, 'at', last_build_at)::text else '{}' end as position`;
const LAST_BUILD = inWords(compose`last_build_at`);

/**
 * Builds that stopped arriving, and that arrive again, by `report.arrivals`. A mirror that has not looked within five minutes
 * knows nothing, so its mark stays. The mark holds the last build before the silence: one silence is one notice, and it
 * ends with a build that was triggered later.
 */
export const arrivals: NoticeSource = {
  name: "arrivals",
  begin: () => compose`select ${POSITION} from report.arrivals`,
  look: ({ now }, position) => compose`
    with mark as (
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
    ), noted as (
      ${insertNotices}
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
      from fact where state = 'quiet' and last_build_id is distinct from (select build_id from mark)
      on conflict (subject) do nothing
      returning 1
    )
    select (select count(*) from noted)::int as noted,
      -- The same silence may be called otherwise after weeks.
      case when last_build_at > mark.at or mark.at is null then fact.position else mark.position end as position
    from mark cross join (select *, ${POSITION} from fact) as fact`,
};

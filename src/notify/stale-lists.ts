import { RESOURCES } from "../resources/resources.ts";
import { inWords, type NoticeSource } from "./source.ts";

/**
 * The lists that are stale now, each with its last good moment, when its walk began, which differs from one staleness to the next. A list that
 * a wrong clock dated ahead counts as stale, because its age is not known. One that was never read well is stale when the
 * first run is that old.
 */
const STALE = `
  stale as (
    select of.resource, good.started_at as last_good_at, coalesce(good.started_at::text, 'never') as since
    from unnest($3::text[]) as of (resource)
    left join lateral (
      select least(started_at, finished_at) as started_at from sync.walks where walks.resource = of.resource and is_good order by run_id desc limit 1
    ) as good on true
    where coalesce(good.started_at, (select started_at from sync.runs order by id limit 1)) < $2::timestamptz - $1::float8 * interval '1 ms'
      or good.started_at > $2::timestamptz + interval '5 minutes'
  )`;

const POSITION = "coalesce((select jsonb_object_agg(resource, since) from stale), '{}')::text as position";

/** Lists that went stale. The mark holds those that are, so a lasting staleness is one notice, however long it lasts. */
export const staleLists: NoticeSource = {
  name: "lists",
  begin: `with ${STALE} select ${POSITION}`,
  look: `
    with ${STALE}, noted as (
      insert into sync.notices (subject, type, data)
      select format('list/%s/%s', resource, since), 'list.stale', jsonb_build_object(
        'summary', case
          when last_good_at is null then format('The %s list was never read well.', resource)
          when last_good_at > $2::timestamptz then format('The %s list was last read well at %s, which is in the future: a clock is or was wrong.',
            resource, ${inWords("last_good_at")})
          else format('The %s list was last read well at %s.', resource, ${inWords("last_good_at")}) end,
        'resource', resource, 'last_good_at', last_good_at, 'stale_after_s', $1::float8 / 1000
      )
      from stale where $4::text::jsonb ->> resource is distinct from since
      order by resource
      on conflict (subject) do nothing
      returning 1
    )
    select (select count(*) from noted)::int as noted, ${POSITION}`,
  values: ({ staleAfterMs, now }) => [staleAfterMs, now, [...RESOURCES]],
};

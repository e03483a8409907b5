import type { SQL } from "drizzle-orm";
import { RESOURCES } from "../resources/resources.ts";
import { compose } from "../store/connection/run-statement.ts";
import { runs, walks } from "../store/schema/index.ts";
import { insertNotices, inWords, type LookSettings, type NoticeSource } from "./source.ts";

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

const POSITION = compose`coalesce((select jsonb_object_agg(resource, since) from stale), '{}')::text as position`;
const LAST_GOOD = inWords(compose`last_good_at`);

/** Lists that went stale. The mark holds those that are, so a lasting staleness is one notice, however long it lasts. */
export const staleLists: NoticeSource = {
  name: "lists",
  begin: (settings) => compose`with ${stale(settings)} select ${POSITION}`,
  look: (settings, position) => compose`
    with ${stale(settings)}, noted as (
      ${insertNotices}
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
      order by resource
      on conflict (subject) do nothing
      returning 1
    )
    select (select count(*) from noted)::int as noted, ${POSITION}`,
};

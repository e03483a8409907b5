import type { Sql } from "../../store/connection/sql.ts";

/**
 * Builds that were first seen on one day (UTC) and whose dates allow the same offsets of the service's zone:
 * from `from` to `to`, in minutes ahead of UTC, in steps of a quarter of an hour. No offset is possible when
 * `to` is less than `from`.
 */
export interface OffsetSpan {
  day: string;
  from: number;
  to: number;
  builds: number;
}

/** A reading of the head counts only when the reading before began at most this long before. */
export const FRESH_WITHIN_MINUTES = 15;
/** The error allowed in the measured difference of two clocks. */
const TOLERANCE_SECONDS = 60;
/** With a larger clock error two neighbouring zones look alike, so such runs are no evidence. */
export const MAX_CLOCK_SECONDS = 600;

/**
 * The evidence for the service's zone since a moment, day by day. It comes from fresh builds: one reading of
 * the head did not show the build, and the next one, shortly after, did. So the build began in between. Its
 * date, read as UTC, then differs from its first sighting by the offset of the zone and a delay of at most
 * the time between the two readings.
 */
export async function findOffsetSpans(sql: Sql, since: string): Promise<OffsetSpan[]> {
  return sql<OffsetSpan[]>`
    with reading as (
      select
        run.id as run_id,
        walk.walk,
        lag(walk.started_at) over (order by run.id) as previous_at,
        -- A service with a wrong clock may date its builds by that clock or by another one: both must fit.
        greatest(run.clock_ahead_max_ms, 0) / 1000.0 as ahead,
        greatest(-run.clock_ahead_min_ms::bigint, 0) / 1000.0 as behind
      from sync.runs as run
      join sync.walks as walk on walk.run_id = run.id and walk.resource = 'build'
      where run.started_at >= ${since}::timestamptz and walk.walk in ('whole', 'head')
    ),
    fresh as (
      select
        (first.not_after at time zone 'UTC')::date as day,
        extract(epoch from build.date - first.not_after at time zone 'UTC')
          - reading.ahead - ${TOLERANCE_SECONDS}::int as least_seconds,
        extract(epoch from build.date - reading.previous_at at time zone 'UTC')
          + reading.behind + ${TOLERANCE_SECONDS}::int as most_seconds
      from reading
      join mirror.build_transitions as first on first.run_id = reading.run_id and first.seq = 1
      join mirror.builds as build on build.id = first.build_id
      where reading.walk = 'head'
        and reading.ahead + reading.behind <= ${MAX_CLOCK_SECONDS}::int
        and build.date is not null
        and first.not_after between reading.previous_at and reading.previous_at + make_interval(mins => ${FRESH_WITHIN_MINUTES}::int)
    )
    select
      day::text,
      ceil(least_seconds / 900)::int * 15 as "from",
      floor(most_seconds / 900)::int * 15 as "to",
      count(*)::int as builds
    from fresh
    -- All zones are between these two. A date outside is a mistake, or a build that was hidden for long.
    where most_seconds >= -12 * 3600 and least_seconds <= 14 * 3600
    group by 1, 2, 3
    order by 1, 2, 3`;
}

/** How many builds were seen within a day of their date as it is read now, and how many before it. */
export interface FutureDates {
  builds: number;
  future: number;
  /** The median of how many minutes those dates were in the future; null when there are none. */
  medianMinutes: number | null;
}

/** A date that is less far in the future may be due to a wrong clock. */
const FUTURE_FROM_MINUTES = 10;

/** Counts dates that are in the future as read in a zone. Many prove that the zone is farther east. */
export async function findFutureDates(sql: Sql, zone: string, since: string): Promise<FutureDates> {
  const [row] = await sql<FutureDates[]>`
    select
      count(*)::int as builds,
      count(*) filter (where minutes >= ${FUTURE_FROM_MINUTES}::int)::int as future,
      percentile_disc(0.5) within group (order by minutes::int)
        filter (where minutes >= ${FUTURE_FROM_MINUTES}::int) as "medianMinutes"
    from (
      select extract(epoch from local.earliest - first.not_after) / 60
        - greatest(run.clock_ahead_max_ms, 0) / 60000.0 as minutes
      from mirror.build_transitions as first
      join mirror.builds as build on build.id = first.build_id
      left join sync.runs as run on run.id = first.run_id
      cross join lateral mirror.read_local_time(build.date, ${zone}) as local
      where first.seq = 1 and first.not_after >= ${since}::timestamptz
        and abs(extract(epoch from local.earliest - first.not_after)) < 86400
    ) as sighting`;
  return row ?? { builds: 0, future: 0, medianMinutes: null };
}

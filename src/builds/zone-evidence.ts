import type { Sql } from "../db/connect.ts";

/**
 * Builds that were first seen on one day (UTC) and whose dates allow the same offsets of the service's zone: those from `from` to `to`, in
 * minutes ahead of UTC, by quarters of an hour. None, when `to` is less than `from`.
 */
export interface OffsetSpan {
  day: string;
  from: number;
  to: number;
  builds: number;
}

/** A look at the head of the build list counts when the one before it had begun so shortly before. */
export const FRESH_WITHIN_MINUTES = 15;
/** What two clocks may differ by beyond what was measured. */
const TOLERANCE_SECONDS = 60;
/** By a service's clock that is off by more, no zone could be told from the next one: such runs are no evidence. */
export const MAX_CLOCK_SECONDS = 600;

/**
 * What the builds seen fresh since a moment say of the service's zone, day by day. A build is fresh when a reading of the list's head found it
 * shortly after an earlier one had begun, which did not: so it was made in between. Read as UTC, its date then differs from its first
 * sight by the zone's offset and a delay from nothing to the time between the two readings.
 */
export async function findOffsetSpans(sql: Sql, since: string): Promise<OffsetSpan[]> {
  return sql<OffsetSpan[]>`
    with look as (
      select
        run.id as run_id,
        walk.walk,
        lag(walk.started_at) over (order by run.id) as previous_at,
        -- A service whose clock is off may date its builds by that clock, or by another: both must fit.
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
          - look.ahead - ${TOLERANCE_SECONDS}::int as least_seconds,
        extract(epoch from build.date - look.previous_at at time zone 'UTC')
          + look.behind + ${TOLERANCE_SECONDS}::int as most_seconds
      from look
      join mirror.build_transitions as first on first.run_id = look.run_id and first.seq = 1
      join mirror.builds as build on build.id = first.build_id
      where look.walk = 'head'
        and look.ahead + look.behind <= ${MAX_CLOCK_SECONDS}::int
        and build.date is not null
        and first.not_after between look.previous_at and look.previous_at + make_interval(mins => ${FRESH_WITHIN_MINUTES}::int)
    )
    select
      day::text,
      ceil(least_seconds / 900)::int * 15 as "from",
      floor(most_seconds / 900)::int * 15 as "to",
      count(*)::int as builds
    from fresh
    -- Zones lie between these two. A date far from them is none of the service's clock: a mistake, or a build that was hidden for long.
    where most_seconds >= -12 * 3600 and least_seconds <= 14 * 3600
    group by 1, 2, 3
    order by 1, 2, 3`;
}

/** How many builds were seen within a day of their date, and how many of them before it, as the date is read now. */
export interface FutureDates {
  builds: number;
  future: number;
  /** By how many minutes the dates of the latter lay ahead, half of them by less; null when there are none. */
  medianMinutes: number | null;
}

/** Of dates that lie ahead by less, a clock may be the reason. */
const FUTURE_FROM_MINUTES = 10;

/**
 * Whether dates, read in a zone, lie in the future: no service dates its builds ahead, so many of them prove that its zone is
 * another one, farther east.
 */
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

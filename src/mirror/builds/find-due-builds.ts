import type { Sql } from "../../store/connection/sql.ts";

/** A build is polled again after this share of the time that it has been in its state. */
const AGE_SHARE = 0.1;
/** Once a day, with some room for a nightly run that starts earlier than on the day before. */
const LONGEST_HOURS = 22;
/** The share of places that stuck builds keep even when enough other builds are due. */
const STUCK_SHARE = 0.1;
/** A build that is due within these seconds is due now, because a round may start a little early. */
const SLACK_SECONDS = 30;

interface WaitFacts {
  now: Date;
  /** Builds seen since then are not due: this run has read them in the list. */
  notSeenSince: Date;
  stuckAfterMs: number;
}

/**
 * The open builds to poll now, the longest overdue first, stuck ones last. The wait grows with the age of the state, at
 * the time the build was last seen (`docs/internals/builds.md`). A sighting in the future was made before our clock was
 * set back: its build is due, and the age is the distance between the two moments.
 */
export async function findDueBuilds(
  sql: Sql,
  /** `maxDetails` includes stuck builds. When more are due, stuck ones keep a tenth of the places. */
  { maxDetails, maxStuck, ...facts }: WaitFacts & { maxDetails: number; maxStuck: number },
) {
  const stuckPlaces = Math.min(maxStuck, Math.floor(maxDetails * STUCK_SHARE));
  return sql<{ id: string; isStuck: boolean }[]>`
    with due as (${dueBuilds(sql, facts)}), ranked as (
      select *, row_number() over (partition by is_stuck order by due_at, id) as turn,
        least(count(*) filter (where is_stuck) over (), ${stuckPlaces}::int) as reserved
      from due
    )
    select id, is_stuck as "isStuck" from ranked
    where turn <= case when is_stuck then ${maxStuck} else ${maxDetails} - reserved end
    order by is_stuck, due_at, id
    limit ${maxDetails}`;
}

/** Only those that this run has not asked for. */
export async function countDueBuilds(sql: Sql, facts: WaitFacts): Promise<number> {
  const [row] = await sql<{ due: number }[]>`
    select count(*) as due from (${dueBuilds(sql, facts)}) as due
    where not exists (
      select from sync.open_builds where build_id = id
        and asked_at between ${facts.notSeenSince.toISOString()}::timestamptz and ${facts.now.toISOString()}::timestamptz)`;
  return row?.due ?? 0;
}

/** The states of stuck builds that are due, and when the list of the state was last requested, if it showed any of them. */
export async function findDueStates(sql: Sql, facts: WaitFacts) {
  return sql<{ state: string; due: number; open: number; listedAt: string | null }[]>`
    with due as (${dueBuilds(sql, facts)})
    select build.state, count(due.id) as due, count(*) as open,
      max(open.seen_at) filter (where open.request like '/api/v1/build/?%state=%') as "listedAt"
    from sync.open_builds as open
    join mirror.builds as build on build.id = open.build_id
    left join due on due.id = open.build_id and due.is_stuck
    where build.state is not null
    group by build.state
    having count(due.id) > 0
    order by due desc, state`;
}

function dueBuilds(sql: Sql, { now, notSeenSince, stuckAfterMs }: WaitFacts) {
  return sql`
    select build_id as id, is_stuck, due_at
    from (
      select build_id, seen_at, polled_at, greatest(polled_at - since, since - polled_at) as age
      from sync.open_builds
      cross join lateral (select greatest(seen_at, asked_at) as polled_at) as latest
      -- Nothing shows that a build without a state will ever have one.
      where exists (select from mirror.builds where id = build_id and state is not null)
    ) as waiting
    cross join lateral (select age >= ${stuckAfterMs}::float8 * interval '1 ms' as is_stuck) as stuck
    cross join lateral (
      select polled_at + case
        when is_stuck then least(age, ${LONGEST_HOURS} * interval '1 hour')
        else age * ${AGE_SHARE}::float8
      end as due_at
    ) as next
    cross join lateral (select ${now.toISOString()}::timestamptz + ${SLACK_SECONDS} * interval '1 second' as soon) as clock
    where seen_at < ${notSeenSince.toISOString()}::timestamptz and due_at <= soon or polled_at > soon`;
}

/** Postpones builds that were polled without a usable result and were not seen since. */
export async function postponeBuilds(
  sql: Sql,
  ids: readonly string[],
  { at, notSeenSince }: { at: Date; notSeenSince: Date },
): Promise<void> {
  await sql`
    update sync.open_builds set asked_at = ${at.toISOString()}::timestamptz
    where build_id = any (${ids as string[]}::text[]) and seen_at < ${notSeenSince.toISOString()}::timestamptz`;
}

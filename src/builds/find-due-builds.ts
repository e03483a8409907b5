import type { Sql } from "../db/connect.ts";

/** A build is asked for again after this share of the time that it has been in its state. */
const AGE_SHARE = 0.1;
/** Once a day, with room for a nightly run that comes a little earlier than the day before. */
const LONGEST_HOURS = 22;
/** Of the builds that are asked for, stuck ones may have so many though others are due as well. */
const STUCK_SHARE = 0.1;
/** A tick comes a little early now and then; what is due within so many seconds is due. */
const SLACK_SECONDS = 30;

export interface WaitFacts {
  now: Date;
  /** What was seen since then is left alone: this run has read it in the list. */
  notSeenSince: Date;
  stuckAfterMs: number;
}

export interface DueFacts extends WaitFacts {
  /** Builds at most, stuck ones included. */
  maxDetails: number;
  /** Stuck builds at most; where all are more than `maxDetails`, a tenth of that is theirs. */
  maxStuck: number;
}

export interface DueBuild {
  id: string;
  isStuck: boolean;
}

/**
 * The open builds whose detail is to be asked for, the longest overdue first, stuck ones last.
 *
 * The wait grows with the age of the state, as it was when the build was seen last:
 *
 *   younger than 10 minutes   each round: most builds finish within minutes, and each moment unseen widens the bounds
 *   then                      a tenth of the age: how long a build took is known to a tenth, whether it took an hour or two
 *   stuck                     as long again as it has been stuck: it is not expected to finish, and if it does, by a clean-up job
 *   from 22 hours on          22 hours: what has hung for a year is still looked at daily
 *
 * A sighting that lies ahead was made on a clock that has gone back since; it is due, and its age is how far the two moments are apart.
 *
 * So a build that hangs for ever costs some forty requests on its first day, and one a day from then on.
 */
export async function findDueBuilds(sql: Sql, facts: DueFacts): Promise<DueBuild[]> {
  return sql<DueBuild[]>`
    with due as (${dueBuilds(sql, facts)}), ranked as (
      select *, row_number() over (partition by is_stuck order by due_at, id) as turn,
        least(count(*) filter (where is_stuck) over (), ${stuckPlaces(facts)}::int) as reserved
      from due
    )
    select id, is_stuck as "isStuck" from ranked
    where turn <= case when is_stuck then ${facts.maxStuck} else ${facts.maxDetails} - reserved end
    order by is_stuck, due_at, id
    limit ${facts.maxDetails}`;
}

/** The open builds that are due, without a bound. */
export async function countDueBuilds(sql: Sql, facts: WaitFacts): Promise<number> {
  const [row] = await sql<{ due: number }[]>`select count(*) as due from (${dueBuilds(sql, facts)}) as due`;
  return row?.due ?? 0;
}

export interface DueState {
  state: string;
  /** Stuck builds that are due. */
  due: number;
  /** All that are open in this state. */
  open: number;
  /** When the list of this state was last asked for, as far as it showed any of them. */
  listedAt: string | null;
}

/** The states in which stuck builds are due. */
export async function findDueStates(sql: Sql, facts: WaitFacts): Promise<DueState[]> {
  return sql<DueState[]>`
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

function stuckPlaces({ maxDetails, maxStuck }: DueFacts): number {
  return Math.min(maxStuck, Math.floor(maxDetails * STUCK_SHARE));
}

function dueBuilds(sql: Sql, { now, notSeenSince, stuckAfterMs }: WaitFacts) {
  return sql`
    select build_id as id, is_stuck, due_at
    from (
      select build_id, seen_at, looked_at, greatest(looked_at - since, since - looked_at) as age
      from sync.open_builds
      cross join lateral (select greatest(seen_at, asked_at) as looked_at) as look
    ) as waiting
    cross join lateral (select age >= ${stuckAfterMs}::float8 * interval '1 ms' as is_stuck) as stuck
    cross join lateral (
      select looked_at + case
        when is_stuck then least(age, ${LONGEST_HOURS} * interval '1 hour')
        else age * ${AGE_SHARE}::float8
      end as due_at
    ) as next
    cross join lateral (select ${now.toISOString()}::timestamptz + ${SLACK_SECONDS} * interval '1 second' as soon) as clock
    where seen_at < ${notSeenSince.toISOString()}::timestamptz and due_at <= soon or looked_at > soon`;
}

/**
 * Puts builds off that were asked for without an answer that settles anything: none that can be used, or one with a record that could not be
 * stored. Those that were seen since then are left alone.
 */
export async function noteAsked(
  sql: Sql,
  ids: readonly string[],
  { at, notSeenSince }: { at: Date; notSeenSince: Date },
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update sync.open_builds set asked_at = ${at.toISOString()}::timestamptz
    where build_id = any (${ids as string[]}::text[]) and seen_at < ${notSeenSince.toISOString()}::timestamptz`;
}

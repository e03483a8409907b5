/**
 * The one place that writes down how builds move (`product.md` section 5), whoever saw it: a sync, a watch, a resumed run, a repair.
 *
 * A state was entered in (`not_before`, `not_after`]. `not_after` is when the reply that first showed it was here. What sets `not_before`
 * is named in `rule`:
 *
 *   last_seen    when the request was sent whose reply last showed the predecessor: what came after may have happened on its way back
 *   date         at first sight the build's own date, in its earliest reading, on our clock
 *   predecessor  our clock went back since the predecessor was seen: the state was entered after the predecessor was
 *   unknown      -infinity: there is no date, or it lies in the future; nothing is claimed
 *
 * What is unusual is named in `anomaly`, separated by commas when there is more than one thing: `backward` (among the three documented
 * states), `no_date`, `future_date`, `repeated_hour` and `skipped_hour` (summer time: the earlier reading counts), and `clock` (the bound
 * was moved back for a clock that is off).
 */
import type { TransactionSql } from "../db/connect.ts";
import type { Observation } from "./sighting.ts";

/** What `to_state` says of an open build whose detail is gone. Upstream's own last word stays in `mirror.builds.state`. */
export const VANISHED = "vanished";

/** From so many milliseconds on a difference between the clocks is named: `Date` has no finer grain. */
const NAMED_DIFFERENCE_MS = 1000;

export interface TransitionFacts {
  runId: number;
  /** The zone in which `date` is read. */
  sourceTimezone: string;
  /** By how much the service's clock is ahead of ours, as far as is known. @default it is not */
  clockAhead?: () => { minMs: number; maxMs: number } | null;
}

/** A build that was asked for, and when. */
export interface BuildSighting extends Observation {
  id: string;
}

/**
 * Writes a transition for each of these builds whose state is not the one last recorded, and notes of those that are open that they were
 * seen. Without `isGone` the state is the one that `mirror.builds` holds by now; with it their details answered that they are
 * not there, which is noted of open ones. Returns the number of transitions. Safe to repeat: a state that is recorded adds nothing.
 */
export async function recordTransitions(
  tx: TransactionSql,
  facts: TransitionFacts,
  sightings: readonly BuildSighting[],
  isGone = false,
): Promise<number> {
  if (sightings.length === 0) return 0;
  const ahead = facts.clockAhead?.() ?? { minMs: 0, maxMs: 0 };
  const mostAhead = Math.max(0, ahead.maxMs);
  // Where the clocks may agree, they are taken to.
  const surelyAhead = ahead.minMs > 0 ? mostAhead : 0;
  const seen = JSON.stringify(
    sightings.map(({ id, askedAt, observedAt, request }) => ({ id, askedAt, observedAt, request })),
  );
  const result = await tx`
    with sighting as (
      select build.id, build.date, case when ${isGone} then ${VANISHED}::text else build.state end as state,
        seen."askedAt" as asked_at, seen."observedAt" as at, seen.request
      from jsonb_to_recordset(${seen}::text::jsonb)
        as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz, request text)
      join mirror.builds as build on build.id = seen.id
      where not ${isGone} or seen.id in (select build_id from sync.open_builds)
    )
    insert into mirror.build_transitions
      (build_id, seq, from_state, to_state, not_before, not_after, anomaly, run_id, request, asked_at, rule,
       previous_run_id, previous_request)
    select
      sighting.id, coalesce(last.seq, 0) + 1, last.to_state, sighting.state,
      case bound.rule
        when 'date' then created.at
        when 'last_seen' then previous.at
        when 'predecessor' then last.not_before
        else '-infinity'
      end,
      sighting.at,
      nullif(concat_ws(', ',
        case when array_position(${DOCUMENTED}::text[], last.to_state)
          > array_position(${DOCUMENTED}::text[], sighting.state) then 'backward' end,
        case when last.seq is null and sighting.date is null then 'no_date' end,
        case when created.at > sighting.at then 'future_date' end,
        reading.hour || '_hour',
        case when bound.rule = 'date' and (created.is_cut or ${ahead.minMs >= NAMED_DIFFERENCE_MS})
          or last.seq is not null and bound.rule <> 'last_seen' then 'clock' end
      ), ''),
      ${facts.runId}, sighting.request, sighting.asked_at, bound.rule,
      case bound.rule when 'last_seen' then previous.run_id end,
      case bound.rule when 'last_seen' then previous.request end
    from sighting
    left join lateral (
      select * from mirror.build_transitions as transition
      where transition.build_id = sighting.id order by seq desc limit 1
    ) as last on true
    left join sync.open_builds as open on open.build_id = sighting.id
    left join lateral mirror.read_local_time(sighting.date, ${facts.sourceTimezone}) as reading on last.seq is null
    cross join lateral (
      select
        reading.earliest - case when is_cut then ${mostAhead}::float8 else ${surelyAhead}::float8 end * interval '1 ms' as at, is_cut
      from (select reading.earliest - ${surelyAhead}::float8 * interval '1 ms' > sighting.at as is_cut) as cut
    ) as created
    cross join lateral (
      select coalesce(last.asked_at, last.not_after) as at, last.run_id, last.request
      union all
      select open.seen_at, open.run_id, open.request
      order by at desc nulls last limit 1
    ) as previous
    cross join lateral (
      select case
        when last.seq is null then case when created.at <= sighting.at then 'date' else 'unknown' end
        when previous.at <= sighting.at then 'last_seen'
        when last.not_before <= sighting.at then 'predecessor'
        else 'unknown'
      end as rule
    ) as bound
    where last.seq is null or last.to_state is distinct from sighting.state`;
  await noteSeen(tx, facts.runId, seen, isGone);
  return result.count;
}

const DOCUMENTED = ["triggered", "building", "finished"];

/** Keeps `sync.open_builds` beside the transitions: what is open was seen, what has finished leaves. */
async function noteSeen(tx: TransactionSql, runId: number, seen: string, isGone: boolean): Promise<void> {
  await tx`
    with sighting as (
      select build.id, build.state, seen."askedAt" as asked_at, seen."observedAt" as at, seen.request
      from jsonb_to_recordset(${seen}::text::jsonb)
        as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz, request text)
      join mirror.builds as build on build.id = seen.id
      where not ${isGone} or seen.id in (select build_id from sync.open_builds)
    ), closed as (
      delete from sync.open_builds as open using sighting
      where not ${isGone} and open.build_id = sighting.id and sighting.state = 'finished'
    )
    insert into sync.open_builds as open (build_id, since, seen_at, run_id, request, vanished_at)
    select
      sighting.id,
      -- What was open at first sight may have been so for long; what was seen to move has not.
      case when last.seq = 1 and isfinite(last.not_before) then last.not_before else last.not_after end,
      sighting.asked_at, ${runId}, sighting.request, case when ${isGone} then sighting.at end
    from sighting
    cross join lateral (
      select * from mirror.build_transitions as transition
      where transition.build_id = sighting.id order by seq desc limit 1
    ) as last
    where ${isGone} or sighting.state is distinct from 'finished'
    on conflict (build_id) do update set
      since = excluded.since, seen_at = excluded.seen_at, run_id = excluded.run_id, request = excluded.request,
      vanished_at = case when excluded.vanished_at is not null then coalesce(open.vanished_at, excluded.vanished_at) end
    where open.since <> excluded.since or open.seen_at < excluded.seen_at`;
}

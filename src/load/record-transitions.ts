import type { TransactionSql } from "../db/connect.ts";

export interface TransitionFacts {
  runId: number;
  /** The zone in which `date` is read. */
  sourceTimezone: string;
  /** When the newest whole walk of builds began: every build that was here then was seen by it in its last recorded state. */
  lastWholeWalkAt: string | null;
}

/**
 * Writes a transition for each of these builds whose state is not the one last recorded (`product.md` section 5). The rows of
 * `mirror.builds` must already hold the new state. Safe to repeat: a state that is recorded adds nothing.
 * The state was entered in (`not_before`, `not_after`]: not after it was seen, and not before its
 * predecessor was last seen, or, at first sight, before the build's own date. Of a date in the hour that the end of summer time
 * repeats the first reading counts (Postgres takes the second), since the bound must hold for either.
 */
export async function recordTransitions(
  tx: TransactionSql,
  facts: TransitionFacts,
  sightings: readonly { record: { id: string }; observedAt: string }[],
): Promise<number> {
  if (sightings.length === 0) return 0;
  const ids = sightings.map(({ record }) => record.id);
  const times = sightings.map(({ observedAt }) => observedAt);
  const result = await tx`
    insert into mirror.build_transitions
      (build_id, seq, from_state, to_state, not_before, not_after, anomaly, run_id)
    select
      build.id,
      coalesce(last.seq, 0) + 1,
      last.to_state,
      build.state,
      least(bound.not_before, sighting.at),
      sighting.at,
      case
        when last.seq is not null and rank.before > rank.after then 'backward'
        when last.seq is null and build.date is null then 'no_date'
        when bound.not_before > sighting.at then 'clock'
      end,
      ${facts.runId}
    from unnest(${ids}::text[], ${times}::text[]::timestamptz[]) as sighting (build_id, at)
    join mirror.builds as build on build.id = sighting.build_id
    left join lateral (
      select seq, to_state, not_after
      from mirror.build_transitions as transition
      where transition.build_id = build.id
      order by seq desc
      limit 1
    ) as last on true
    cross join lateral (
      select case
        when last.seq is null then coalesce(least(
          build.date at time zone ${facts.sourceTimezone},
          (build.date - interval '1 hour') at time zone ${facts.sourceTimezone} + interval '1 hour'
        ), '-infinity')
        else greatest(last.not_after, ${facts.lastWholeWalkAt}::timestamptz)
      end as not_before
    ) as bound
    cross join lateral (
      select
        array_position(array['triggered', 'building', 'finished'], last.to_state) as before,
        array_position(array['triggered', 'building', 'finished'], build.state) as after
    ) as rank
    where last.seq is null or last.to_state is distinct from build.state`;
  return result.count;
}

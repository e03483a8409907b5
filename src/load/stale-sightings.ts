import type { TransactionSql } from "../db/connect.ts";
import { type BuildSighting, DOCUMENTED, VANISHED } from "./record-transitions.ts";

/** A sighting with the state that it shows; without one the build was gone. */
export interface ShownState extends BuildSighting {
  state?: unknown;
}

/**
 * Which of these builds were seen later than this already, in another state or the same: by a later run, or later in this one. Runs come one after
 * another, so their order tells even where a clock was set back between them. Replaying what was observed thus changes nothing.
 *
 * Two requests that were under way at the same time, or a reply out of a cache, do not tell which of them shows the later state. None of them
 * takes a build back: the one that would is stale.
 */
export async function findStale(
  tx: TransactionSql,
  runId: number,
  sightings: readonly ShownState[],
): Promise<Set<string>> {
  if (sightings.length === 0) return new Set();
  const rows = await tx<{ id: string }[]>`
    select seen.id
    from jsonb_to_recordset(${JSON.stringify(sightings)}::text::jsonb)
      as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz, state text)
    left join sync.open_builds as open on open.build_id = seen.id
    cross join lateral (
      select run_id, not_after, to_state from mirror.build_transitions as transition
      where transition.build_id = seen.id order by seq desc limit 1
    ) as last
    where (last.run_id, last.not_after) > (${runId}, seen."observedAt")
      or (open.run_id, open.seen_at) > (${runId}, seen."askedAt")
      or seen.state is null and open.seen_at between seen."askedAt" and seen."observedAt"
      or last.not_after between seen."askedAt" and seen."observedAt" and seen.state <> last.to_state
        and (last.to_state = ${VANISHED}
          or array_position(${DOCUMENTED}::text[], last.to_state) > array_position(${DOCUMENTED}::text[], seen.state))`;
  return new Set(rows.map(({ id }) => id));
}

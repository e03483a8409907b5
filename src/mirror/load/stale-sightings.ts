import type { TransactionSql } from "../../store/connection/sql.ts";
import { type BuildSighting, DOCUMENTED, VANISHED } from "./record-transitions.ts";

/** A sighting with its state. Without a state the build was gone. */
export interface ShownState extends BuildSighting {
  state?: unknown;
}

/**
 * Finds the builds that were already seen later than in these sightings, in any state: by a later run, or
 * later in this run. Runs never overlap, so their order is right even when a clock was set back between them.
 * So replaying old sightings changes nothing.
 *
 * When two requests ran at the same time, or a reply came from a cache, it is unknown which one shows the
 * later state. Neither may move a build backward: the one that would is stale.
 */
export async function findStale(tx: TransactionSql, runId: number, sightings: readonly ShownState[]) {
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

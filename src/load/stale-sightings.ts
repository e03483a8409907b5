import type { TransactionSql } from "../db/connect.ts";
import type { BuildSighting } from "./record-transitions.ts";

/**
 * Which of these builds were seen later than this already, in another state or the same: by a later run, or later in this one. Runs come one after
 * another, so their order tells even where a clock was set back between them. Replaying what was observed thus changes nothing.
 */
export async function findStale(
  tx: TransactionSql,
  runId: number,
  sightings: readonly BuildSighting[],
): Promise<Set<string>> {
  if (sightings.length === 0) return new Set();
  const rows = await tx<{ id: string }[]>`
    select seen.id
    from jsonb_to_recordset(${JSON.stringify(sightings)}::text::jsonb)
      as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz)
    left join sync.open_builds as open on open.build_id = seen.id
    cross join lateral (
      select run_id, not_after from mirror.build_transitions as transition
      where transition.build_id = seen.id order by seq desc limit 1
    ) as last
    where (last.run_id, last.not_after) > (${runId}, seen."observedAt")
      or (open.run_id, open.seen_at) > (${runId}, seen."askedAt")`;
  return new Set(rows.map(({ id }) => id));
}

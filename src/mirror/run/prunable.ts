/**
 * Decides what may be pruned. Looking back to any moment after the horizon must still work. So all changes
 * after it stay, and for each record the newest older change, which began its oldest known state, and the
 * newest older deletion or return. Runs stay while they are running or while a later run needs them.
 */

import type { SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { RESOURCES } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { changes, runs, walks } from "../../store/schema/index.ts";

const run = alias(runs, "run");
const walk = alias(walks, "walk");
const good = alias(walks, "good");

export interface PruneCounts {
  changes: number;
  runs: number;
}

/**
 * Selects the ids of the changes to prune, among all changes of some records: `source` has rows of `changes`. A change is
 * old when it and all earlier changes of its record were observed before the horizon. So a change that was
 * stored late counts from the time of the changes before it.
 */
export const prunableChanges = (source: SQL, horizon: string): SQL => compose`
  select id from (
    select id, kind, is_old,
      max(id) filter (where is_old) over record as newest,
      max(id) filter (where is_old and kind <> 'updated') over record as newest_turn
    from (
      select ${changes.id}, resource, record_id, ${changes.kind},
        max(${changes.observed_at}) over (partition by resource, record_id order by ${changes.id})
          < ${horizon}::timestamptz as is_old
      from ${source}
    ) as dated
    window record as (partition by resource, record_id)
  ) as change
  where is_old and id < newest and (kind = 'updated' or id < newest_turn)`;

/**
 * Selects the ids of the runs to prune. Later runs need the newest whole
 * walk of each list, the newest one that was whole or joined at the head, and all walks since, which may have
 * left a gap or a checkpoint. For a list that was never read well they need all walks. The newest run of each
 * kind and status shows how fresh the mirror is.
 */
export const prunableRuns = (horizon: string): SQL => compose`
  select ${run.id} from ${runs} as ${run}
  where ${run.status} <> 'running' and ${run.finished_at} < ${horizon}::timestamptz
    and ${run.id} not in (select max(${runs.id}) from ${runs} group by ${runs.kind}, ${runs.status})
    and not exists (
      select from ${walks} as ${walk}
      join (
        select resource, coalesce(least(
          (select ${good.run_id} from ${walks} as ${good} where ${good.resource} = list.resource and ${good.walk} = 'whole'
           order by ${good.run_id} desc limit 1),
          (select max(${good.run_id}) from ${walks} as ${good}
           where ${good.resource} = list.resource and ${good.walk} in ('whole', 'head'))
        ), 0) as needed_from
        from unnest(${compose.param(RESOURCES)}::text[]) as list (resource)
      ) as needed on needed.resource = ${walk.resource}
      where ${walk.run_id} = ${run.id} and ${walk.run_id} >= needed_from
    )`;

/** Counts what `prune` would remove, and removes nothing. Throws `StoreError`. */
export async function countPrunable(sql: Sql, horizon: string): Promise<PruneCounts> {
  return withStoreErrors("count what may be pruned", async () => {
    const [row] = await runStatement<PruneCounts>(
      sql,
      compose`
        select (select count(*) from (${prunableChanges(compose`${changes}`, horizon)}) as change) as changes,
          (select count(*) from (${prunableRuns(horizon)}) as run) as runs`,
    );
    return row ?? { changes: 0, runs: 0 };
  });
}

/**
 * Decides what may be pruned. Looking back to any moment after the horizon must still work. So all changes
 * after it stay, and for each record the newest older change, which began its oldest known state, and the
 * newest older deletion or return. Runs stay while they are running or while a later run needs them.
 */

import { RESOURCES } from "../../resources/resources.ts";
import type { Sql } from "../../store/connection/connect.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";

export interface PruneCounts {
  changes: number;
  runs: number;
}

/**
 * Selects the ids of the changes to prune, among all changes of some records; $1 is the horizon. A change is
 * old when it and all earlier changes of its record were observed before the horizon. So a change that was
 * stored late counts from the time of the changes before it.
 */
export const prunableChanges = (source: string) => `
  select id from (
    select id, kind, is_old,
      max(id) filter (where is_old) over record as newest,
      max(id) filter (where is_old and kind <> 'updated') over record as newest_turn
    from (
      select id, resource, record_id, kind,
        max(observed_at) over (partition by resource, record_id order by id) < $1::timestamptz as is_old
      from ${source}
    ) as dated
    window record as (partition by resource, record_id)
  ) as change
  where is_old and id < newest and (kind = 'updated' or id < newest_turn)`;

/**
 * Selects the ids of the runs to prune; $1 is the horizon, $2 all resources. Later runs need the newest whole
 * walk of each list, the newest one that was whole or joined at the head, and all walks since, which may have
 * left a gap or a checkpoint. For a list that was never read well they need all walks. The newest run of each
 * kind and status shows how fresh the mirror is.
 */
export const PRUNABLE_RUNS = `
  select id from sync.runs as run
  where status <> 'running' and finished_at < $1::timestamptz
    and id not in (select max(id) from sync.runs group by kind, status)
    and not exists (
      select from sync.walks as walk
      join (
        select resource, coalesce(least(
          (select run_id from sync.walks as good where good.resource = list.resource and walk = 'whole'
           order by run_id desc limit 1),
          (select max(run_id) from sync.walks as good where good.resource = list.resource and walk in ('whole', 'head'))
        ), 0) as needed_from
        from unnest($2::text[]) as list (resource)
      ) as needed using (resource)
      where walk.run_id = run.id and walk.run_id >= needed_from
    )`;

/** Counts what `prune` would remove, and removes nothing. Throws `StoreError`. */
export async function countPrunable(sql: Sql, horizon: string): Promise<PruneCounts> {
  return withStoreErrors("count what may be pruned", async () => {
    const [row] = await sql.unsafe<PruneCounts[]>(
      `select (select count(*) from (${prunableChanges("mirror.changes")}) as change) as changes,
         (select count(*) from (${PRUNABLE_RUNS}) as run) as runs`,
      [horizon, RESOURCES as unknown as string[]],
    );
    return row ?? { changes: 0, runs: 0 };
  });
}

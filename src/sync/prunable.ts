/**
 * What may be pruned. Of the changes there stays what looks back from the horizon on need: all that came later, and of each record
 * the newest older change, with which its oldest known state began, and its newest older deletion or return. Of the runs there
 * stay those that go on or that a later one leans on.
 */
import type { Sql } from "../db/connect.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { RESOURCES } from "../wire/resources.ts";

export interface PruneCounts {
  changes: number;
  runs: number;
}

/**
 * The ids of changes that may go, out of all changes of some records; $1 is the horizon.
 * A change is old when it was observed before the horizon, and so was every one of its record that was written before it: one that was
 * stored late counts from when those before it were seen.
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
 * The ids of runs that may go; $1 is the horizon, $2 all resources.
 * A later run leans on the newest whole walk of each list, on the newest that was whole or joined at the head, and on all since, which may
 * have left a gap or a checkpoint; of a list that was never seen well, on all. The newest run of each kind and end tells how fresh
 * the mirror is.
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

/** Counts what `prune` would take away, and takes nothing. Throws `StoreError`. */
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

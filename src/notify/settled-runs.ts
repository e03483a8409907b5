/**
 * Marks by the numbers of runs. A run ends after its number was given, perhaps long after: the next run closes what a dead
 * process left open. So the mark stops below the first run that is still open. Numbers may also be committed out of order
 * when a process loses its lock, so the last ones below the mark are looked at once more. The subject prevents a second
 * notice, and the limit of a day prevents one after the first was removed from the outbox.
 */

/** Selects the position for a first look. */
export const BEGIN_AT_RUNS = `
  select jsonb_build_object('from', through, 'through', through)::text as position
  from (select coalesce((select min(id) - 1 from sync.runs where status = 'running'), (select max(id) from sync.runs), 0) as through) as now`;

/** Whether a row of `sync.runs as run` may be news since the position in $1. It must have ended. */
export const IS_UNSEEN_RUN = `
  run.status <> 'running' and run.id > ($1::text::jsonb ->> 'from')::bigint
  and (
    run.id > ($1::text::jsonb ->> 'through')::bigint
    or run.id > ($1::text::jsonb ->> 'through')::bigint - 20 and run.heartbeat_at > now() - interval '1 day'
  )`;

/** The next position, as text. `last` is the last run of a look that had to stop there, else null. */
export const NEXT_RUN_POSITION = (last: string): string => `
  jsonb_build_object(
    'from', $1::text::jsonb -> 'from',
    'through', least((select min(id) - 1 from sync.runs where status = 'running'), coalesce(${last}, (select max(id) from sync.runs), 0))
  )::text`;

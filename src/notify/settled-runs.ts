/**
 * Marks by the numbers of runs. A run ends after its number was given, perhaps long after: the next run closes what a dead
 * process left open. So the mark stops below the first run that is still open. Numbers may also be committed out of order
 * when a process loses its lock, so the last ones below the mark are looked at once more. The subject prevents a second
 * notice, and the limit of a day prevents one after the first was removed from the outbox.
 */

import type { SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { compose } from "../store/connection/run-statement.ts";
import { runs } from "../store/schema/index.ts";

/** A run, as the sources call it in their statements. */
export const run = alias(runs, "run");

const BEFORE_OPEN = compose`(select min(${runs.id}) - 1 from ${runs} where ${runs.status} = 'running')`;
const NEWEST = compose`(select max(${runs.id}) from ${runs})`;

/** Selects the position for a first look. */
export const BEGIN_AT_RUNS = compose`
  select jsonb_build_object('from', through, 'through', through)::text as position
  from (select coalesce(${BEFORE_OPEN}, ${NEWEST}, 0) as through) as now`;

/** Whether a `run` may be news since the position. It must have ended. */
export const isUnseenRun = (position: string): SQL => compose`
  ${run.status} <> 'running' and ${run.id} > (${position}::text::jsonb ->> 'from')::bigint
  and (
    ${run.id} > (${position}::text::jsonb ->> 'through')::bigint
    or ${run.id} > (${position}::text::jsonb ->> 'through')::bigint - 20
      and ${run.heartbeat_at} > now() - interval '1 day'
  )`;

/** The next position, as text. `last` is the last run of a look that had to stop there, else null. */
export const nextRunPosition = (position: string, last: SQL): SQL => compose`
  jsonb_build_object(
    'from', ${position}::text::jsonb -> 'from',
    'through', least(${BEFORE_OPEN}, coalesce(${last}, ${NEWEST}, 0))
  )::text`;

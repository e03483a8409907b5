import { ageMs, isAhead } from "../../base/clock.ts";
import { toSecond } from "../../base/text.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { type AnySql, oneRow, statement } from "../connection/sql.ts";
import type { WalkVerdict } from "../schema/runs.ts";

const LIST_FRESHNESS = statement<ListFreshness>("list_freshness", import.meta.url);

/** The freshness of one list: its newest walk that was whole, or that joined at the head with matching counts. */
export interface ListFreshness {
  resource: Resource;
  /**
   * The begin of that walk, in an earlier run where it was resumed: the mirror has what happened upstream before.
   * Where a clock was put back during the walk, it is the end, which is then the earlier moment. Null, like the
   * next two, when there is no such walk.
   */
  startedAt: string | null;
  finishedAt: string | null;
  walk: WalkVerdict | null;
}

/** All lists, in the order of `RESOURCES`. The newest walk is that of the newest run, not of the latest time. */
export async function findListFreshness(sql: AnySql): Promise<ListFreshness[]> {
  return LIST_FRESHNESS(sql, { resources: [...RESOURCES] });
}

/**
 * The age of the mirror in milliseconds. It is the age of its oldest list, counted from the begin of the walk. Infinity while
 * one of the lists was never read well, or where a wrong clock dated a walk in the future.
 */
export function mirrorAgeMs(lists: readonly ListFreshness[], now: Date): number {
  return Math.max(...lists.map(({ startedAt }) => ageMs(startedAt, now)));
}

/** For people: which list is the oldest, or why the age of the mirror is unknown. */
export function describeOldest(lists: readonly ListFreshness[], now: Date) {
  const { resource, startedAt, finishedAt } = lists.reduce((oldest, list) =>
    ageMs(list.startedAt, now) > ageMs(oldest.startedAt, now) ? list : oldest,
  );
  if (startedAt === null) return { resource, why: "was never read to its end" };
  const why = isAhead(startedAt, now)
    ? `was last read at ${toSecond(startedAt)}, which is in the future: a clock is or was wrong`
    : `was last read to its end at ${toSecond(finishedAt)}`;
  return { resource, why };
}

const READ_SINCE = (sql: AnySql, resource: Resource) => sql`
  select coalesce(read_since, least(started_at, finished_at)) from sync.walks
  where resource = ${resource} and (walk = 'whole' or read_since is not null) order by run_id desc limit 1`;

/** The moment since which every record of a list was read at least once. Null when that never was. */
export async function findReadSince(sql: AnySql, resource: Resource): Promise<string | null> {
  const read = sql<{ since: string | null }[]>`select (${READ_SINCE(sql, resource)}) as since`;
  return (await oneRow(read)).since;
}

/** The service shows other dates for most builds, since the run that first met one. Not all of them were read since. */
export interface DatesInChange {
  since: string;
  /** The difference, for people. */
  detail: string;
}

const DATES_IN_CHANGE = (sql: AnySql) => sql`
  select observed_at as since, detail from sync.drift
  where resource = 'build' and field = 'date' and kind = 'type_changed' and detail like 'moved %'
    and observed_at > coalesce((${READ_SINCE(sql, "build")}), '-infinity')
  order by id desc limit 1`;

/** By the note of `noteMovedDates` in `sync.drift`. Null where every build has the date that the service shows. */
export async function findDatesInChange(sql: AnySql): Promise<DatesInChange | null> {
  const [row] = await sql<DatesInChange[]>`${DATES_IN_CHANGE(sql)}`;
  return row ?? null;
}

export const describeDatesInChange = ({ detail }: DatesInChange) =>
  `the dates of builds are in change (${detail}): reports mix old and new ones until the list was read in full`;

/** As `findReadSince`, and each build with the date that it has now. */
export async function findBuildsReadSince(sql: AnySql): Promise<string | null> {
  const [row] = await sql<{ since: string | null }[]>`
    select (${READ_SINCE(sql, "build")}) as since where not exists (${DATES_IN_CHANGE(sql)})`;
  return row?.since ?? null;
}

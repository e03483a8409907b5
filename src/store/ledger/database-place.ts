/**
 * Where a database is: on which server, with which history, as which database. `pg_restore` makes other tables, another server
 * has another identifier, and a standby that took over has another timeline. So a run can tell that its database was restored
 * or copied since the last one. A copy of the files of a stopped server looks like the original.
 */
import type { Sql } from "../connection/sql.ts";

/** Each part is null where the server does not tell it. */
interface Place {
  server: string | null;
  timeline: string | null;
  database: string | null;
  ledger: string | null;
}

type Part = { part: string }[];
const PARTS: Record<keyof Place, (sql: Sql) => Promise<Part>> = {
  server: (sql) => sql<Part>`select system_identifier::text as part from pg_control_system()`,
  timeline: (sql) => sql<Part>`select left(pg_walfile_name(pg_current_wal_lsn()), 8) as part`,
  database: (sql) => sql<Part>`select oid::text as part from pg_database where datname = current_database()`,
  ledger: (sql) => sql<Part>`select 'sync.runs'::regclass::oid::text as part`,
};

/** The newest run that a moved database has from before: when it ended, else when it last showed life, in UTC. */
export interface MovedAfter {
  runId: number;
  at: string;
}

export type FoundPlace = Awaited<ReturnType<typeof findPlace>>;

/**
 * Where the database is now, and whether the last run that ended was there too (`isKnown`). `movedAfter` is the last run, if the
 * database is elsewhere since; null when it is not, and when no run has noted its place yet.
 */
export async function findPlace(sql: Sql) {
  const place = await readPlace(sql);
  const [noted] = await sql<{ place: Place }[]>`select place from sync.places order by run_id desc limit 1`;
  const isKnown = noted !== undefined && isSame(noted.place, place);
  if (noted === undefined || isKnown) return { place, isKnown, movedAfter: null };
  const [last] = await sql<MovedAfter[]>`
    select id as "runId", to_char(coalesce(finished_at, heartbeat_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at
    from sync.runs order by id desc limit 1`;
  return { place, isKnown, movedAfter: last ?? null };
}

/**
 * Stores where the database was when the run began, unless that is known. Called at the end of the run, which has
 * warned of a move by then. If a standby takes over during a run, the next run warns of it.
 */
export async function notePlace(sql: Sql, runId: number, { place, isKnown }: FoundPlace): Promise<void> {
  if (isKnown) return;
  await sql`
    insert into sync.places (run_id, place) values (${runId}, ${JSON.stringify(place)}::text::jsonb)
    on conflict (run_id) do nothing`;
}

async function readPlace(sql: Sql): Promise<Place> {
  const parts = Object.entries(PARTS).map(async ([name, read]) => {
    // Managed servers refuse some of these.
    const rows = await read(sql).catch((): Part => []);
    return [name, rows[0]?.part ?? null];
  });
  return Object.fromEntries(await Promise.all(parts)) as Place;
}

/** What one of the two does not know tells nothing. */
function isSame(one: Place, other: Place): boolean {
  const names = Object.keys(PARTS) as (keyof Place)[];
  return names.every((name) => one[name] === null || other[name] === null || one[name] === other[name]);
}

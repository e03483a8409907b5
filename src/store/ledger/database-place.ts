/**
 * The place of a database: its server, the history of that, and which of its databases it is. `pg_restore` makes other tables, another
 * server has another identifier, and a standby that took over has another timeline. So a run knows that its database was restored
 * or copied since the last one. A copy of the files of a stopped server looks like the original.
 */
import { compose, runStatement, type Sql } from "../connection/sql.ts";

/** Each part is null where the server refuses to say it. */
interface Place {
  server: string | null;
  timeline: string | null;
  database: string | null;
  ledger: string | null;
}

const PARTS = {
  server: compose`(select system_identifier::text from pg_control_system())`,
  timeline: compose`left(pg_walfile_name(pg_current_wal_lsn()), 8)`,
  database: compose`(select oid::text from pg_database where datname = current_database())`,
  ledger: compose`'sync.runs'::regclass::oid::text`,
};
const NAMES = Object.keys(PARTS) as (keyof Place)[];

export interface FoundPlace {
  place: Place;
  /** The last run that ended was there too. */
  isKnown: boolean;
  /**
   * The newest run, where the database is elsewhere since: when it ended, else when it last showed life, in UTC. Null when it is not, and
   * when no run has noted its place yet.
   */
  movedAfter: { runId: number; at: string } | null;
}

/** Finds the place of the database, and compares it with that of the last run. */
export async function findPlace(sql: Sql): Promise<FoundPlace> {
  const { noted, ...place } = await readPlaces(sql);
  if (noted === null) return { place, isKnown: false, movedAfter: null };
  const { place: last, ...movedAfter } = noted;
  const isKnown = isSame(last, place);
  return { place, isKnown, movedAfter: isKnown ? null : movedAfter };
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

/** The place, and that of the last run that noted it. */
interface Places extends Place {
  noted: { place: Place; runId: number; at: string } | null;
}

const NOTED = compose`(
  select json_build_object(
    'place', place, 'runId', last.id,
    'at', to_char(coalesce(finished_at, heartbeat_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
  )
  from sync.places cross join lateral (select * from sync.runs order by id desc limit 1) as last
  order by run_id desc limit 1)`;

async function readPlaces(sql: Sql): Promise<Places> {
  const read = async (names: typeof NAMES) => {
    const parts = names.map((name) => compose`${PARTS[name]} as ${compose.identifier(name)}`);
    const [row] = await runStatement<Partial<Places>>(
      sql,
      compose`select ${compose.join([...parts, compose`${NOTED} as noted`], compose`, `)}`,
    );
    return row;
  };
  const places: Places = { server: null, timeline: null, database: null, ledger: null, noted: null };
  try {
    return Object.assign(places, await read(NAMES));
  } catch {
    // Managed servers refuse some of these.
    Object.assign(places, await read([]));
    for (const name of NAMES) Object.assign(places, await read([name]).catch(() => null));
    return places;
  }
}

/** A part that one of the two does not have proves nothing. */
function isSame(one: Place, other: Place): boolean {
  return NAMES.every((name) => one[name] === null || other[name] === null || one[name] === other[name]);
}

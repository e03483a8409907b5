import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import type { Sql } from "../../src/store/connection/sql.ts";

export async function seedLeader(sql: Sql): Promise<void> {
  await sql`
    insert into sync.leases (name, term, instance, pid, host, since, renewed_at, until)
    values ('lead', 3, 'abc123', 4711, 'host-a', '2026-11-03 12:00:00.5+00', clock_timestamp(), clock_timestamp() + interval '1 hour')`;
}

type Hours = Readonly<Partial<Record<Resource, number>>>;
export const EACH_AN_HOUR_AGO: Hours = Object.fromEntries(RESOURCES.map((resource) => [resource, 1]));

/** Good walks that ended so long ago, by list, in hours; a list that is not named was never read. */
export async function seedWalks(sql: Sql, hoursAgo: Hours, now: Date): Promise<void> {
  await sql`
    insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
    values ('full', 'succeeded', now(), now(), now(), 1, 'test')`;
  for (const [resource, hours] of Object.entries(hoursAgo)) {
    const at = new Date(now.getTime() - hours * 3_600_000).toISOString();
    await sql`
      insert into sync.walks (run_id, resource, walk, started_at, finished_at)
      values ((select max(id) from sync.runs), ${resource}, 'whole', ${at}, ${at})`;
  }
}

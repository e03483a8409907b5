import type { Sql } from "../../src/store/connection/sql.ts";

/**
 * A service that built each ten minutes for five weeks, until 2026-03-11 00:10, and ten projects of it: all of their ten
 * builds of the day before succeeded, all that were triggered at 23:59 failed.
 */
export const QUIET_NIGHT = `
  insert into mirror.projects (id, slug, source, listed, first_seen_at, changed_at, record_hash)
  select project::text, 'project-' || project, 'list', true, '2026-02-01Z', '2026-02-01Z', ''
  from generate_series(1, 10) as project;
  insert into mirror.builds (id, date, state, success, type, project_id, first_seen_at, changed_at, record_hash)
  select row_number() over (order by at, project)::text, at, 'finished', success, 'html', project::text,
    at at time zone 'UTC' + interval '1 minute', '2026-02-01Z', ''
  from (
    select at, null::int as project, true as success
    from generate_series(timestamp '2026-02-04 00:00', '2026-03-11 00:10', '10 minutes') as at
    union all
    select timestamp '2026-03-10 10:01' + hour * interval '1 hour', project, true
    from generate_series(0, 9) as hour, generate_series(1, 10) as project
    union all
    select timestamp '2026-03-10 23:59', project, false from generate_series(1, 10) as project
  ) as build`;

/** A build without a project, which was seen a minute after its date. */
export async function addLateBuild(sql: Sql, id: string, date: string): Promise<void> {
  await sql`
    insert into mirror.builds (id, date, state, success, type, first_seen_at, changed_at, record_hash)
    values (${id}, ${date}, 'finished', true, 'html', ${`${date}Z`}::timestamptz + interval '1 minute', '2026-02-01Z', '')`;
}

/** A whole walk of the builds, in a run of its own. */
export async function addLook(sql: Sql, runId: number, at: string): Promise<void> {
  await sql`
    insert into sync.runs (id, kind, status, started_at, finished_at, heartbeat_at, pid, host) overriding system value
    values (${runId}, 'full', 'succeeded', ${at}, ${at}, ${at}, 1, 'test')`;
  await sql`
    insert into sync.walks (run_id, resource, walk, started_at, finished_at)
    values (${runId}, 'build', 'whole', ${at}, ${at}::timestamptz + interval '1 second')`;
}

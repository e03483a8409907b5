import type { Sql } from "../../src/store/connection/sql.ts";
import { EACH_LIST } from "../../test/support/mirror-rows.ts";

export interface ServedRows {
  builds: number;
  projects: number;
  versions: number;
}

/**
 * Fills an empty mirror as a full sync would have left it: a thousand users, builds of 1.5 KB, no files. Gives the size of the
 * database as Postgres prints it.
 */
export async function fillServed(sql: Sql, { builds, projects, versions }: ServedRows): Promise<string> {
  const own = "now(), now(), '\\x00'";
  await sql.unsafe(`
    insert into mirror.users (id, resource_uri, username, first_name, last_name, first_seen_at, changed_at, record_hash)
    select n::text, '/api/v1/user/' || n || '/', 'user-' || n, '', '', ${own} from generate_series(1, 1000) as n`);
  await sql.unsafe(`
    insert into mirror.projects (id, resource_uri, slug, name, description, source, listed, first_seen_at, changed_at, record_hash)
    select n::text, '/api/v1/project/' || n || '/', 'project-' || n, 'Project ' || n, repeat('words ', 20), 'list', true, ${own}
    from generate_series(1, ${projects}) as n`);
  await sql.unsafe(`
    insert into mirror.versions (id, resource_uri, slug, verbose_name, identifier, active, built, uploaded, project_id, first_seen_at, changed_at, record_hash)
    select n::text, '/api/v1/version/' || n || '/', 'v' || n % 9, 'v' || n % 9, 'refs/' || n, true, true, false, (n % ${projects} + 1)::text, ${own}
    from generate_series(1, ${versions}) as n`);
  await sql.unsafe(`
    insert into mirror.builds (id, resource_uri, date, state, success, type, project_uri, version_uri, project_id, version_id, first_seen_at, changed_at, record_hash)
    select n::text, '/api/v1/build/' || n || '/', timestamp '2013-01-01' + n * interval '7 seconds', 'finished', n % 5 <> 0, 'html',
      '/api/v1/project/' || n % ${projects} + 1 || '/', '/api/v1/version/' || n % ${versions} + 1 || '/', (n % ${projects} + 1)::text, (n % ${versions} + 1)::text, ${own}
    from generate_series(1, ${builds}) as n`);
  await sql.unsafe(`
    insert into mirror.build_logs (build_id, output, error, setup, setup_error)
    select n::text, repeat('reading sources... done ', 60), '', '', '' from generate_series(1, ${builds}) as n`);
  await sql.unsafe(`
    with run as (insert into sync.runs (kind, status, started_at, heartbeat_at, finished_at, pid, host)
      values ('full', 'succeeded', now(), now(), now(), 1, 'bench') returning id)
    insert into sync.walks (run_id, resource, walk, started_at, finished_at, pages)
    select id, ${EACH_LIST}, 'whole', now(), now(), 1 from run`);
  await sql.unsafe("vacuum analyze");
  await sql.unsafe("checkpoint");
  const [size] = await sql<
    { size: string }[]
  >`select pg_size_pretty(pg_database_size(current_database())) as size`;
  return size?.size ?? "";
}

import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";

/** Slugs as strangers type them. */
export const HOSTILE_SLUGS = {
  markup: "<script>alert(1)</script>",
  formula: '=cmd|"/C calc"!A0',
  terminal: "\u001b[2J\u202eevil|`x`",
} as const;

/** How the answers of this mirror are computed. */
export const REPORT_SETTINGS = { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 };

/**
 * A mirror of 204 builds of four projects, as rows, with its answers: 200 from June 2025 on, three a day, of which every fourth failed; one
 * that hangs, one without a date, one without project and version, one whose texts have everything that CSV must quote. A sync read all of it
 * on 2025-08-15.
 */
export async function createReportedMirror(options: { refreshed?: boolean } = {}): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await database.sql.unsafe(ROWS);
  for (const [index, slug] of Object.values(HOSTILE_SLUGS).entries())
    await database.sql`update mirror.projects set slug = ${slug} where id = ${String(index + 2)}`;
  if (options.refreshed !== false) await refreshReport(database.sql, REPORT_SETTINGS);
  return database;
}

const ROWS = `
  insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
  values ('full', 'succeeded', '2025-08-15 02:17Z', '2025-08-15 02:20Z', '2025-08-15 02:20Z', 1, 'test');
  insert into sync.walks (run_id, resource, walk, started_at, finished_at)
  values (1, 'build', 'whole', '2025-08-15 02:17Z', '2025-08-15 02:19Z');

  insert into mirror.users (id, username, first_name, last_login, first_seen_at, changed_at, record_hash)
  values ('1', 'ada', 'Ada', '2025-06-01 10:00', '2025-06-01Z', '2025-06-01Z', '');
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  select id::text, 'pip', 'Project ' || id, 'list', true, '2025-06-01Z', '2025-06-01Z', '' from generate_series(1, 4) as id;
  insert into mirror.project_users (project_id, position, user_uri, user_id) values ('1', 0, '/api/v1/user/1/', '1');
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  select project || slug, slug, project::text, '2025-06-01Z', '2025-06-01Z', ''
  from generate_series(1, 4) as project, unnest(array['latest', 'stable']) as slug;

  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select id::text, timestamp '2025-06-01 09:00' + id / 3 * interval '1 day' + id % 3 * interval '0.001001 s', 'finished', id % 4 > 0,
    case when id % 5 = 0 then 'pdf' else 'html' end, (id % 4 + 1)::text, (id % 4 + 1) || case when id % 2 = 0 then 'latest' else 'stable' end,
    '2025-06-01Z', '2025-06-01Z', ''
  from generate_series(1, 200) as id;
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  values
    ('201', '2025-08-14 12:00', 'building', null, 'html', '1', '1latest', '2025-08-14 12:00Z', '2025-08-14 12:00Z', ''),
    ('202', null, 'finished', true, 'html', '1', '1latest', '2025-08-14 12:00Z', '2025-08-14 12:00Z', ''),
    ('203', '2025-08-14 13:00', 'finished', true, null, null, null, '2025-08-14 12:00Z', '2025-08-14 12:00Z', ''),
    ('204', '2025-08-14 14:00', 'finished', false, '', '2', '2latest', '2025-08-14 12:00Z', '2025-08-14 12:00Z', '');
  insert into sync.open_builds (build_id, since, seen_at, run_id) values ('201', '2025-08-14 12:00Z', '2025-08-15 02:17Z', 1);

  insert into mirror.build_transitions (build_id, seq, from_state, to_state, not_before, not_after, run_id)
  select id, 1, null, 'finished', date at time zone 'UTC', date at time zone 'UTC' + interval '90.5 s', 1 from mirror.builds
  where state = 'finished' and date is not null and id <> '3';
  insert into mirror.build_logs (build_id, error)
  select id, 'fatal: could not read from remote ' || id from mirror.builds where not success and id <> '204';
  insert into mirror.build_logs (build_id, error) values ('204', E'Error: "quoted", \\\\N, ünï ❤ and a comma');
`;

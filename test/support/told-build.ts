import { createTestDatabase, type TestDatabase } from "./database.ts";

/**
 * A mirror with one build of which there is much to tell, as rows: first seen triggered at 10:00:30 (its date, in Chicago, is 10:00 UTC), seen
 * building by a watch, taken back, finished, deleted and restored. Its project is here, its version is gone.
 */
export async function createToldBuild(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await database.sql.unsafe(ROWS);
  return database;
}

const DETAIL = "/api/v1/build/42/";
const LIST = "/api/v1/build/?format=json&limit=20";

const ROWS = `
  insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host)
  select case when minute = 0 then 'full' else 'watch' end, 'succeeded', at, at, 1, 'test'
  from generate_series(0, 8) as minute
  cross join lateral (select timestamptz '2025-06-02 10:00Z' + minute * interval '1 minute' as at) as began;

  insert into mirror.projects (id, slug, source, listed, first_seen_at, changed_at, record_hash)
  values ('7', 'pip', 'list', true, '2025-06-02 10:00Z', '2025-06-02 10:00Z', '');
  insert into mirror.builds (id, date, state, success, type, project_uri, project_id, version_uri, first_seen_at, changed_at, record_hash)
  values ('42', '2025-06-02 05:00:00', 'finished', false, 'html', '/api/v1/project/7/', '7', '/api/v1/version/9/',
    '2025-06-02 10:00:30Z', '2025-06-02 10:07:01Z', '');
  insert into mirror.unresolved_references (resource, record_id, field, position, uri, status, checked_at, target_resource, target_key)
  values ('build', '42', 'version', 0, '/api/v1/version/9/', 'gone', '2025-06-02 10:05Z', 'version', '9');

  insert into mirror.build_transitions (build_id, seq, from_state, to_state, not_before, not_after, anomaly, run_id, request, asked_at,
    rule, previous_run_id, previous_request)
  values
    ('42', 1, null, 'triggered', '2025-06-02 10:00Z', '2025-06-02 10:00:30Z', null, 1, '${LIST}', '2025-06-02 10:00:29.5Z',
      'date', null, null),
    ('42', 2, 'triggered', 'building', '2025-06-02 10:02Z', '2025-06-02 10:03:00.25Z', null, 4, '${DETAIL}', '2025-06-02 10:03Z',
      'last_seen', 3, '${DETAIL}'),
    ('42', 3, 'building', 'triggered', '2025-06-02 10:03Z', '2025-06-02 10:04:01Z', 'backward', 5, '${DETAIL}', '2025-06-02 10:04Z',
      'last_seen', 4, '${DETAIL}'),
    ('42', 4, 'triggered', 'finished', '2025-06-02 10:06Z', '2025-06-02 10:07:01Z', null, 99, '${DETAIL}', '2025-06-02 10:07Z',
      'last_seen', 7, '${DETAIL}');

  insert into mirror.changes (resource, record_id, run_id, observed_at, kind, before, after) values
    ('build', '42', 4, '2025-06-02 10:03:00.25Z', 'updated', '{"state": "triggered"}', '{"state": "building"}'),
    ('build', '42', 99, '2025-06-02 10:07:01Z', 'updated',
      '{"state": "triggered", "output": {"md5": "d41d8cd98f00b204e9800998ecf8427e", "bytes": 0}}',
      '{"state": "finished", "output": {"md5": "900150983cd24fb0d6963f7d28e17f72", "bytes": 3}}'),
    ('build', '42', 99, '2025-06-09 02:17Z', 'deleted', null, null),
    ('build', '42', 99, '2025-06-10 02:17Z', 'restored', null, null),
    ('build', '43', 99, '2025-06-10 02:17Z', 'updated', '{"state": "no"}', '{"state": "other"}');
  insert into sync.quarantine (run_id, resource, record_id, reason, payload, request, created_at, resolved_at) values
    (4, 'build', '42', 'could not store build 42', '{}', '${LIST}', '2025-06-02 10:03:10Z', '2025-06-02 10:04:10Z'),
    (4, 'build', '44', 'could not store build 44', '{}', '${LIST}', '2025-06-02 10:03:10Z', null);
`;

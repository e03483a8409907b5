/**
 * What worlds of builds lack: walks of every list and end, records in quarantine, changes, files, people; and builds as few services have
 * them, of projects and versions that are not there, without dates or results, and an hour in which all projects failed.
 */
import type { Sql } from "../../src/store/connection/sql.ts";

/** Adds the rows to a mirror that has none of these ids. Safe beside those of `tiny-world.ts` and `random-mirror.ts`. */
export async function insertLedger(sql: Sql): Promise<void> {
  await sql.unsafe(ROWS);
}

const RECORD = "'2025-01-01 00:00Z', '2025-01-01 00:00Z', ''";
const ROWS = `
  with added as (
    insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, error, unfinished, warnings, rounds, rounds_since) values
      ('full', 'succeeded', '2025-01-02 12:00Z', '2025-01-02 12:02Z', now(), 1, 'test', null, null, '{}', null, null),
      ('incremental', 'partial', '2025-01-03 12:00Z', '2025-01-03 12:02Z', now(), 1, 'test', null, '{"deletions": 1}', '{slow}', null, null),
      ('watch', 'succeeded', '2025-01-04 12:00Z', '2025-01-04 12:02Z', now(), 1, 'test', null,
        '{"deletions": 0, "references": 0, "open_builds": 2}', '{}', 60, '2025-01-03 13:00Z'),
      ('full', 'failed', '2025-01-05 12:00Z', '2025-01-05 12:02Z', now(), 1, 'test', 'the service answers 500', null, '{}', null, null),
      ('full', 'running', '2025-01-06 12:00Z', null, now(), 1, 'test', null, null, '{}', null, null)
    returning id, kind, status
  ), run as (
    select max(id) filter (where status = 'succeeded' and kind = 'full') as whole, max(id) filter (where status = 'partial') as head,
      max(id) filter (where status = 'failed') as failed, max(id) filter (where status = 'running') as running from added
  )
  insert into sync.walks (run_id, resource, walk, reason, started_at, finished_at, pages, total_count, unstored, deficit, round_records,
    round_reason, search_requests, search_is_done)
  select run.whole, resource, 'whole', null, '2025-01-02 12:00Z'::timestamptz, '2025-01-02 12:01Z'::timestamptz, 1, 40, null::bigint, null::bigint, null::bigint, null,
    null::int, null::boolean
  from run, unnest(array['project', 'version', 'file', 'user']) as resource
  union all
  select run.head, resource, 'head', 'the counts differ', '2025-01-03 12:00Z', '2025-01-03 12:01Z', 1, 42, 1, 3, 7, 'the service counts less', 9, false
  from run, unnest(array['version', 'file']) as resource
  union all select run.failed, 'user', 'skipped', null, '2025-01-05 12:00Z', '2025-01-05 12:01Z', 0, null, null, null, null, null, null, null from run
  union all select run.running, 'user', null, null, '2025-01-06 12:00Z', null, 0, null, null, null, null, null, null, null from run;

  insert into sync.quarantine (run_id, resource, record_id, reason, created_at, list_offset) values
    (1, 'build', '1', 'could not store build 1: out of range', '2025-01-08 12:00Z', null),
    (1, 'user', null, 'the service answers 500', '2025-01-09 12:00Z', 17);
  insert into sync.drift (run_id, resource, field, kind, detail, observed_at) values
    (1, 'build', 'pace', 'appeared', 'in records', '2025-01-08 12:00Z'), (1, 'file', '', 'vanished', null, '2025-01-09 12:00Z');
  insert into sync.missing_records (resource, record_id, run_id, noticed_at, held_until) values
    ('file', '1', 1, '2025-01-03 12:00Z', '2025-01-06 12:00Z'), ('version', '1', 1, '2025-01-03 12:00Z', 'infinity');
  insert into sync.checks (checked_at, lists, suspects) values
    (now(), '{"file": {"checked": 20, "equal": 19, "wrong": 1}, "user": {"checked": 3, "equal": 3, "wrong": 0}}', '[]');
  insert into sync.muted_projects (project_slug, until) values ('quiet', now() + interval '1 day');

  insert into mirror.users (id, username, first_name, last_name, last_login, first_seen_at, changed_at, record_hash, deleted_at) values
    ('1', 'ada', 'Ada', '', '2025-01-01 10:00', ${RECORD}, null), ('2', null, null, null, null, ${RECORD}, '2025-01-02 12:00Z');
  insert into mirror.projects (id, slug, name, repo, default_branch, pub_date, documentation_type, repo_type, theme, default_version, use_virtualenv,
    source, listed, first_seen_at, changed_at, record_hash)
  select id::text, 'added-' || id, '', case when id % 2 = 0 then '' else 'git://a.example/' || id end, case when id % 3 = 0 then '' else 'main' end,
    case when id % 2 = 0 then '2024-01-01'::timestamp end, '', '', '', '', id % 2 = 0, 'list', true, ${RECORD}
  from generate_series(1001, 1020) as id;
  update mirror.projects set extra = '{"values": {"programming_language": "Python"}}' where id = '1001';
  insert into mirror.project_users (project_id, position, user_uri, user_id) values ('1001', 0, '/api/v1/user/1/', '1'), ('1020', 0, '/api/v1/user/2/', '2');
  insert into mirror.versions (id, slug, verbose_name, identifier, active, built, uploaded, project_id, first_seen_at, changed_at, record_hash)
  select id::text, 'latest', '', '', id % 2 = 0, id % 2 = 0, id % 2 = 0, id::text, ${RECORD} from generate_series(1001, 1020) as id;
  insert into mirror.changes (resource, record_id, run_id, observed_at, kind, before, after) values
    ('project', '1001', 1, '2025-01-08 12:00Z', 'updated', '{"repo": null, "theme": "a"}', '{"repo": "b", "theme": null}'),
    ('project', '1001', 2, '2025-01-10 12:00Z', 'deleted', null, null);
  insert into mirror.files (id, name, path, absolute_url, project_id, first_seen_at, changed_at, record_hash, deleted_at) values
    ('1', 'index', 'index.html', 'http://docs.example/en/latest/index.html', '1001', ${RECORD}, null),
    ('2', '', '', '', null, ${RECORD}, null), ('3', null, null, null, '1002', ${RECORD}, '2025-01-02 12:00Z');
  insert into mirror.file_contents (file_id, project_id, version, absolute_url, docs_url, url, http_status, reason, title, text, fetched_at, asked_at,
    asked_run_id, changed_run_id) values
    ('1', '1001', 'latest', 'http://docs.example/en/latest/index.html', 'http://docs.example', 'http://docs.example/en/latest/index.html', 200, null, 'Index',
      'words', '2025-01-02 12:00Z', '2025-01-02 12:00Z', 1, 1),
    ('3', '1002', null, null, 'http://docs.example', null, null, 'it leads elsewhere', null, null, null, '2025-01-02 12:00Z', 1, 1);

  -- Twenty projects that succeed each hour of a night, and fail in one.
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select (2000000 + project * 100 + hour)::text, timestamp '2024-12-20 00:10' + hour * interval '1 hour', 'finished', hour <> 7, 'html',
    project::text, project::text, ${RECORD}
  from generate_series(1001, 1020) as project, generate_series(0, 9) as hour;
  -- One of them succeeds four times a day, and fails from Christmas Eve on.
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select (2900000 + quarter)::text, date, 'finished', date < '2024-12-24', 'html', '1003', '1003', ${RECORD}
  from generate_series(0, 119) as quarter, lateral (select timestamp '2024-12-01 00:20' + quarter * interval '6 hours' as date) as dated;
  -- Undated, of an empty type, never finished, of a type of its own, and failed ones of two projects that are not there.
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash) values
    ('3000001', null, 'finished', false, '', '1001', '1001', ${RECORD}), ('3000002', '2024-12-21 10:00', 'building', null, 'alone', '1001', '1001', ${RECORD}),
    ('3000003', '2024-12-21 10:00', '', null, 'html', '1001', '1001', ${RECORD}),
    ('3000011', '2024-12-21 10:00', 'finished', false, 'html', null, null, ${RECORD}), ('3000012', '2024-12-21 10:00', 'finished', false, 'html', null, null, ${RECORD}),
    ('3000013', '2024-12-21 10:00', 'finished', false, 'html', null, null, ${RECORD}), ('3000014', '2024-12-21 10:00', 'finished', false, 'html', null, null, ${RECORD});
  insert into mirror.projects (id, slug, source, listed, first_seen_at, changed_at, record_hash) values ('1021', 'idle', 'list', true, ${RECORD}), ('1022', 'undated', 'list', true, ${RECORD}),
    ('1023', 'worked', 'list', true, ${RECORD});
  insert into mirror.builds (id, date, state, success, type, project_id, first_seen_at, changed_at, record_hash) values
    ('3000021', null, 'building', null, 'html', '1021', ${RECORD}), ('3000022', null, 'finished', false, 'html', '1022', ${RECORD}),
    ('3000023', null, 'finished', true, 'html', '1023', ${RECORD}), ('3000024', '2024-12-21 10:00', 'finished', false, 'html', '1023', ${RECORD});
  insert into mirror.unresolved_references (resource, record_id, field, position, uri, status, checked_at, target_resource, target_key)
  select 'build', id, field, 0, format('/api/v1/%s/%s/', field, 7 + id::int % 2), 'gone', '2025-01-08 12:00Z'::timestamptz, field, (7 + id::int % 2)::text
  from (values ('3000011'), ('3000012'), ('3000013'), ('3000014')) as build (id), (values ('project'), ('version')) as fields (field)
  union all select 'build', '3000021', 'version', 0, 'https://elsewhere.example/', 'foreign', null, null, null
  union all select 'build', id, 'version', 0, '/api/v1/version/8/', 'gone', '2025-01-08 12:00Z', 'version', '8' from (values ('3000023'), ('3000024')) as build (id)
  union all select 'build', '3000022', 'version', 0, '/api/v1/version/9/', 'gone', '2025-01-08 12:00Z', 'version', '9'
  on conflict do nothing;
`;

import { beforeAll, describe, expect, it } from "vitest";
import { useDatabase } from "../support/use-database.ts";

const { sql } = useDatabase();
beforeAll(async () => {
  await sql.unsafe(ROWS);
});

const ROWS = `
  insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host) values
    ('full', 'succeeded', '2025-01-08 12:00Z', now(), 1, 'test'), ('incremental', 'partial', '2025-01-09 12:00Z', now(), 1, 'test');
  insert into sync.walks (run_id, resource, walk, reason, started_at, finished_at, pages, records, inserted, unstored, deficit) values
    (1, 'build', 'whole', null, '2025-01-08 12:00Z', '2025-01-08 12:01:30Z', 2, 40, 40, 2, null),
    (2, 'build', 'head', 'the counts differ', '2025-01-09 12:00Z', '2025-01-09 12:00:10Z', 1, 20, 1, null, 3),
    (2, 'file', 'not_whole', 'page 2 does not come', '2025-01-09 12:00Z', '2025-01-09 12:00:20Z', 1, 20, 0, null, null),
    (2, 'user', null, null, '2025-01-09 12:00Z', null, 0, 0, 0, null, null);
  insert into sync.quarantine (run_id, resource, record_id, reason, payload, created_at, resolved_at, list_offset) values
    (1, 'build', '1', 'could not store build 1: out of range', '{"n": 1}', '2025-01-08 12:00Z', null, null),
    (2, 'build', '2', 'could not store build 2: out of range', '{"n": 2}', '2025-01-09 12:00Z', null, null),
    (2, 'build', '3', 'could not store build 3: out of range', '{"n": 3}', '2025-01-10 12:00Z', '2025-01-11 12:00Z', null),
    (2, 'build', null, 'the service answers 500', null, '2025-01-09 13:00Z', null, 17),
    (2, 'user', null, 'the record has no id that can be stored', '{}', '2025-01-09 12:00Z', null, null),
    (2, 'user', '5', 'the record cannot be read: no object', '{"n": 5}', '2025-01-09 12:00Z', null, null),
    (2, 'user', '6', 'words of an older version', '{"n": 6}', '2025-01-09 12:00Z', null, null);
  insert into mirror.unresolved_references (resource, record_id, field, position, uri, status, checked_at, target_resource, target_key) values
    ('project', '1', 'users', 0, '/api/v1/user/7/', 'gone', '2025-01-08 12:00Z', 'user', '7'),
    ('project', '2', 'users', 0, '/api/v1/user/7/', 'gone', '2025-01-09 12:00Z', 'user', '7'),
    ('project', '2', 'users', 1, '/api/v1/user/8/', 'gone', null, 'user', '8'),
    ('build', '1', 'version', 0, '/api/v1/version/9/', 'pending', null, 'version', '9'),
    ('build', '2', 'version', 0, 'https://elsewhere.example/', 'foreign', null, null, null);
  insert into sync.drift (run_id, resource, field, kind, detail, observed_at) values
    (1, 'build', 'pace', 'appeared', 'in records', '2025-01-08 12:00Z'),
    (2, 'build', 'pace', 'appeared', 'in records', '2025-01-09 12:00Z'),
    (2, 'build', 'pace', 'appeared', 'in the schema', '2025-01-09 12:00Z');
  insert into mirror.builds (id, state, first_seen_at, changed_at, record_hash) values ('1', 'finished', now(), now(), ''), ('2', 'finished', now(), now(), '');
  insert into mirror.build_logs (build_id, output, error) values ('1', 'fünf', null), ('2', repeat('x', 20000), 'no');
  insert into mirror.changes (resource, record_id, run_id, observed_at, kind, before, after) values
    ('project', '1', 1, '2025-01-08 12:00Z', 'updated', '{"repo": "a", "theme": null, "users": ["/api/v1/user/7/"]}',
      '{"repo": "b", "theme": "furo", "users": []}'),
    ('project', '1', 2, '2025-01-09 12:00Z', 'updated', '{"users": [], "extra": null}', '{"users": [], "extra": {"values": {"owner": "ada"}}}'),
    ('project', '1', 2, '2025-01-10 12:00Z', 'deleted', null, null), ('user', '7', 2, '2025-01-10 12:00Z', 'updated', '{"username": "a"}', '{"username": "b"}');
`;

const valuesOf = async (rows: PromiseLike<readonly object[]>) =>
  (await rows).map((row) => Object.values(row));

it("the files are there with what came of their pages, and without projects that are not here", async () => {
  await sql.unsafe(`
    insert into mirror.files (id, name, path, absolute_url, first_seen_at, changed_at, record_hash, deleted_at) values
      ('1', 'index', 'index.html', 'http://docs.example/en/latest/index.html', now(), now(), '', null), ('2', '', 'b.html', null, now(), now(), '', now());
    insert into mirror.file_contents (file_id, version, docs_url, url, http_status, reason, title, asked_at, asked_run_id, changed_run_id) values
      ('1', 'latest', 'http://docs.example', 'http://docs.example/en/latest/index.html', 302, 'it leads elsewhere', '', now(), 1, 1)`);
  const files = sql`
    select file_id, project_id, project_slug, path, name, version_slug, http_status, reason, title, is_deleted from report.files order by file_id`;
  expect(await valuesOf(files)).toEqual([
    ["1", "-1", "(unknown)", "index.html", "index", "latest", 302, "it leads elsewhere", null, false],
    ["2", "-1", "(unknown)", "b.html", null, null, null, null, null, true],
  ]);
});

it("the changes of a project and the sizes of logs are there without people", async () => {
  const changes = sql`
    select project_id, kind, field, before, after from report.project_changes order by change_id, field`;
  expect(await valuesOf(changes)).toEqual([
    ["1", "updated", "repo", "a", "b"],
    ["1", "updated", "theme", null, "furo"],
    ["1", "deleted", null, null, null],
  ]);
  const sizes = sql`select build_id, log_bytes, output_bytes, error_bytes from report.log_sizes order by 1`;
  expect(await valuesOf(sizes)).toEqual([
    ["1", 5, 5, 0],
    ["2", 20_002, 20_000, 2],
  ]);
});

describe("how far the mirror can be trusted", () => {
  it("walks has every reading of a list, how it ended and why", async () => {
    const walks = sql`
      select run_id, resource, walk, reason, duration_s, records, deficit, unstored, is_good
      from report.walks order by run_id, resource`;
    expect(await valuesOf(walks)).toEqual([
      [1, "build", "whole", null, 90, 40, null, 2, true],
      [2, "build", "head", "the counts differ", 10, 20, 3, 0, false],
      [2, "file", "not_whole", "page 2 does not come", 20, 20, null, 0, false],
      [2, "user", null, null, null, 0, null, 0, false],
    ]);
  });

  it("quarantine counts what waits, by resource and kind of reason, and quotes nothing", async () => {
    const waiting = sql`
      select resource, reason_kind, records, oldest_at, newest_at from report.quarantine order by resource, reason_kind`;
    const noon = "2025-01-09 12:00:00+00";
    expect(await valuesOf(waiting)).toEqual([
      ["build", "not_sent", 1, "2025-01-09 13:00:00+00", "2025-01-09 13:00:00+00"],
      ["build", "refused", 2, "2025-01-08 12:00:00+00", noon],
      ["user", "no_id", 1, noon, noon],
      ["user", "other", 1, noon, noon],
      ["user", "unreadable", 1, noon, noon],
    ]);
  });

  it("broken_references counts them by field and status, and names no record", async () => {
    const broken = sql`
      select resource, field, target_resource, status, broken, targets, first_checked_at, last_checked_at
      from report.broken_references order by resource, status`;
    expect(await valuesOf(broken)).toEqual([
      ["build", "version", null, "foreign", 1, 1, null, null],
      ["build", "version", "version", "pending", 1, 1, null, null],
      ["project", "users", "user", "gone", 3, 2, "2025-01-08 12:00:00+00", "2025-01-09 12:00:00+00"],
    ]);
  });

  it("muted_projects has those that are muted now", async () => {
    await sql`
      insert into sync.muted_projects (project_slug, until)
      values ('loud', now() - interval '1 minute'), ('quiet', now() + interval '1 day')`;
    expect(await sql`select project_slug from report.muted_projects`).toEqual([{ project_slug: "quiet" }]);
  });

  it("schema_changes has each difference once, when it was first seen", async () => {
    const changes = sql`select resource, field, kind, detail, observed_at from report.schema_changes order by detail`;
    expect(await valuesOf(changes)).toEqual([
      ["build", "pace", "appeared", "in records", "2025-01-08 12:00:00+00"],
      ["build", "pace", "appeared", "in the schema", "2025-01-09 12:00:00+00"],
    ]);
  });
});

import type { Sql } from "../../src/store/connection/sql.ts";
import { EACH_LIST } from "../../test/support/mirror-rows.ts";

/**
 * Fills a mirror by SQL alone with so many builds of 400 days, as a worker that watches each minute would have left it: 5,000 projects, or as
 * many as told, of which few build much, four versions each, a failure in seven with a text of its own, one build in 2,000 open. The same each
 * time.
 */
export async function fillMirror(sql: Sql, builds: number, projects = 5000, days = 400): Promise<void> {
  const statements = [
    `select setseed(0.5)`,
    `insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
     values ('full', 'succeeded', now() - interval '20 minutes', now() - interval '10 minutes', now(), 1, 'bench')`,
    `insert into sync.walks (run_id, resource, walk, started_at, finished_at, pages, records, total_count)
     select 1, name, 'whole', now() - interval '20 minutes', now() - interval '10 minutes', 1, 1, 1
     from ${EACH_LIST} as name`,
    `insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
     select n::text, 'project-' || n, 'Project ' || n, 'list', true, now() - interval '400 days', now(), '\\x00'
     from generate_series(1, ${projects}) as n`,
    `insert into mirror.versions (id, slug, verbose_name, active, built, uploaded, project_id, first_seen_at, changed_at, record_hash)
     select n::text, (array['latest', 'stable', 'v1', 'v2'])[1 + n % 4] , 'v', true, true, false, (1 + n / 4)::text,
       now() - interval '400 days', now(), '\\x00'
     from generate_series(0, ${projects * 4 - 1}) as n`,
    `insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
     select n::text, at, case when is_open then 'building' else 'finished' end, not is_open and random() > 0.14,
       (array['html', 'html', 'html', 'pdf', 'epub'])[1 + n % 5], project::text, ((project - 1) * 4 + n % 4)::text,
       at at time zone 'UTC' + interval '1 minute', now(), decode(lpad(to_hex(n), 8, '0'), 'hex')
     from (
       select n, random() < 0.0005 as is_open, 1 + floor(${projects} * power(random(), 3))::int as project,
         (now() at time zone 'UTC') - interval '${days} days' * (1 - n::float8 / ${builds}) - interval '1 hour' as at
       from generate_series(1, ${builds}) as n
     ) as build`,
    `insert into mirror.build_transitions (build_id, seq, from_state, to_state, not_before, not_after, run_id, rule)
     select id, seq, (array[null, 'triggered', 'building'])[seq], (array['triggered', 'building', 'finished'])[seq],
       date at time zone 'UTC' + (seq - 1) * interval '90 s', date at time zone 'UTC' + (seq - 1) * interval '90 s' + interval '1 minute', 1,
       case seq when 1 then 'date' else 'last_seen' end
     from mirror.builds cross join generate_series(1, 3) as seq
     where seq < 3 or state = 'finished'
     order by id, seq`,
    `insert into mirror.build_logs (build_id, output, error, setup, setup_error)
     select id, repeat('reading sources... [ 50%] somewhere/or other' || E'\\n', 20),
       case when success or state <> 'finished' then '' else (array[
         'Command killed due to timeout: make html ran for more than 900 seconds',
         'Traceback (most recent call last):' || E'\\n' || 'ModuleNotFoundError: No module named ''module' || length(id) || '''',
         '/home/docs/checkouts/' || project_id || '/conf.py:' || right(id, 2) || ': ERROR: Unknown directive type',
         'fatal: unable to access ''https://git.example.org/u/' || project_id || '/'': Could not resolve host'
       ])[1 + (id::int / 7) % 4] || E'\\n' end, 'HEAD is now at ' || md5(id), ''
     from mirror.builds`,
    `insert into sync.open_builds (build_id, since, seen_at, run_id)
     select id, date at time zone 'UTC', now() - interval '10 minutes', 1 from mirror.builds where state <> 'finished'`,
    `vacuum analyze`,
  ];
  for (const statement of statements) await sql.unsafe(statement);
}

/**
 * What a round of the watch may have seen: 20 builds that are new, and the 30 newest open ones that have finished. Projects that build much
 * have most of them, as they have most builds. The first round opens a hundred builds more for later rounds to finish.
 */
export async function playRound(sql: Sql): Promise<void> {
  const [round] = await sql<{ id: number; projects: number }[]>`
    insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
    values ('watch', 'succeeded', now(), now(), now(), 1, 'bench')
    returning id, (select count(*) from mirror.projects) as projects`;
  const [waiting] = await sql<{ builds: number }[]>`
    select count(*) as builds from sync.open_builds where build_id like 'r%'`;
  const added = waiting && waiting.builds >= 30 ? 20 : 120;
  await sql.unsafe(`
    with come as (
      insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
      select 'r${round?.id}-' || n, now() at time zone 'UTC', 'triggered', null, (array['html', 'html', 'html', 'pdf', 'epub'])[1 + n % 5],
        project::text, ((project - 1) * 4 + n % 4)::text, now(), now(), '\\x00'
      from (select n, 1 + floor(${round?.projects} * power((n % 20 + 0.5) / 20, 3))::int as project from generate_series(1, ${added}) as n) as new
      returning id
    ), opened as (
      insert into sync.open_builds (build_id, since, seen_at, run_id) select id, now(), now(), ${round?.id} from come
    )
    insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id)
    select id, 1, 'triggered', now() - interval '1 minute', now(), ${round?.id} from come`);
  await sql.unsafe(`
    with closed as (
      delete from sync.open_builds where build_id in (
        select build_id from sync.open_builds where run_id < ${round?.id} or ${added} > 20 order by since desc, md5(build_id) limit 30
      ) returning build_id
    ), finished as (
      update mirror.builds set state = 'finished', success = id !~ '[37]$', record_hash = '\\xff' where id in (select build_id from closed)
    ), told as (
      insert into mirror.build_logs (build_id, output, error, setup, setup_error)
      select build_id, '', 'Command killed due to timeout: make html ran for more than 900 seconds', '', '' from closed
      on conflict do nothing
    )
    insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id)
    select build_id, 2, 'finished', now() - interval '1 minute', now(), ${round?.id} from closed`);
}

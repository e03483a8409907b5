import { systemClock } from "../../src/base/clock.ts";
import { type Logger, silentLog } from "../../src/base/log.ts";
import { createPages } from "../../src/page/pages.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createMirrorCatalog } from "../../src/serve/catalog/mirror-catalog.ts";
import { type AppDeps, createApp } from "../../src/serve/http/app.ts";
import { createServedMirror, type ServedMirror } from "../../src/serve/http/served-mirror.ts";
import { startServer } from "../../src/serve/http/server.ts";
import { connectionsOf } from "./connections.ts";
import { withTestSql } from "./database.ts";
import { EACH_LIST } from "./mirror-rows.ts";

export interface ServedPages extends AsyncDisposable {
  readonly url: string;
  get(path: string, init?: RequestInit): Promise<Response>;
  /** The text of a page, which must be there. */
  page(path: string): Promise<string>;
}

/** What the server reads of a database that is there. */
export async function openServedMirror(url: string, log: Logger = silentLog) {
  const mirror = createServedMirror({ ready: async () => url, log });
  await mirror.open();
  return Object.assign(mirror, { [Symbol.asyncDispose]: mirror.close });
}

/** The pages over a database, on a port. `ready` is what the kept database of a command does. */
export async function servePages(
  databaseUrl: string,
  ready: (signal: AbortSignal) => Promise<string> = async () => databaseUrl,
  findMore: (mirror: ServedMirror) => Promise<Pick<AppDeps, "catalog">> = async () => ({}),
  clock = systemClock,
): Promise<ServedPages> {
  const mirror = createServedMirror({ ready, log: silentLog });
  const deps = { clock, log: silentLog };
  const pages = createPages({ mirror, sourceTimezone: "Etc/UTC", staleAfterMs: 108_000_000, ...deps });
  const app = createApp({ pages, ...(await findMore(mirror)), ...deps });
  const server = await startServer({ app, host: "127.0.0.1", port: 0, graceMs: 100 });
  mirror.open().catch(() => {});
  const get = (path: string, init?: RequestInit) => fetch(server.url + path, { redirect: "manual", ...init });
  return {
    url: server.url,
    get,
    async page(path) {
      const reply = await get(path);
      if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
      return reply.text();
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await mirror.close();
    },
  };
}

export interface ServedInterface extends ServedPages {
  /** The parsed body of a reply, which must be 200. */
  json(path: string): Promise<unknown>;
}

/** The pages and the interface over a mirror, on a port, as `docmirror serve` answers them. */
export async function serveInterface(databaseUrl: string): Promise<ServedInterface> {
  const served = await servePages(databaseUrl, undefined, async (mirror) => {
    await mirror.open();
    return { catalog: createMirrorCatalog(mirror) };
  });
  return { ...served, json: async (path) => JSON.parse(await served.page(path)) };
}

export const HOSTILE_SLUGS = {
  script: "<script>alert(1)</script>",
  steps: "..",
  quotes: `"onmouseover='alert(1)' x="`,
  percent: "100%25/a?b#c",
  turned: "\u202egpj.exe \u001b[2J",
  long: "x".repeat(8_000),
  empty: "",
} as const;

/**
 * A mirror for the pages, as rows: a project `pip` with one build each of the last 40 days, every fourth of which failed, and an open one;
 * projects with hostile slugs, each with a failure; a good sync that has just ended; and what the statements of `more` add or change. Its
 * reports are up to date.
 */
export async function seedPages(databaseUrl: string, more = ""): Promise<void> {
  await withTestSql(databaseUrl, async (sql) => {
    await sql.unsafe(ROWS);
    await sql`
      insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
      select (10 + place)::text, slug, slug, 'list', true, now(), now(), ''
      from unnest(${Object.values(HOSTILE_SLUGS)}::text[]) with ordinality as of (slug, place)`;
    await sql`
      insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
      select 'v' || id, slug, id, now(), now(), '' from mirror.projects where id::int > 10`;
    await sql`
      insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
      select 'h' || id, date_trunc('second', now() at time zone 'utc') - interval '2 days' - id::int * interval '1 second', 'finished', false, '<b>html</b>', id, 'v' || id, now(), now(), ''
      from mirror.projects where id::int > 10`;
    await sql`
      insert into mirror.build_logs (build_id, error)
      select id, 'Error: <img src=x onerror=alert(1)>' || chr(27) || '[31m' from mirror.builds where id like 'h%'`;
    await sql.unsafe(more);
  });
  await refreshPages(databaseUrl);
}

export async function refreshPages(databaseUrl: string): Promise<void> {
  await refreshReport(connectionsOf(databaseUrl).sql, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
}

/** More of that mirror: each ten minutes a build, for 35 days, and none in the last 314 minutes. */
export const SILENCE = `
  update mirror.builds set first_seen_at = date at time zone 'UTC', date = date - interval '20 minutes' where id = '2000';
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select 's' || n, at, 'finished', true, 'pdf', '1', '1', at at time zone 'UTC', now(), ''
  from generate_series(0, 35 * 144) as n
  cross join lateral (
    select date_trunc('minute', now() at time zone 'UTC') - interval '314 minutes' - n * interval '10 minutes' as at
  ) as triggered`;

const ROWS = `
  insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
  select kind, status, now() - ago, now() - ago + interval '20 s', now(), 1, 'test'
  from (values ('full', 'failed', interval '2 days'), ('full', 'succeeded', interval '1 hour'), ('watch', 'succeeded', interval '1 minute'))
    as of (kind, status, ago);
  insert into sync.walks (run_id, resource, walk, started_at, finished_at, pages)
  select id, resource, case kind when 'watch' then 'head' else 'whole' end, started_at, finished_at, 1
  from sync.runs cross join ${EACH_LIST} as resource
  where status = 'succeeded' and (kind <> 'watch' or resource = 'build');

  insert into mirror.projects (id, slug, name, repo, source, listed, first_seen_at, changed_at, record_hash)
  values ('1', 'pip', 'The installer', 'https://git.example.org/pip', 'list', true, now(), now(), '');
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  values ('1', 'latest', '1', now(), now(), '');
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select (1000 + n)::text, at, 'finished', n % 4 <> 0, 'html', '1', '1', at at time zone 'utc', now(), ''
  from generate_series(1, 40) as n
  cross join lateral (select date_trunc('second', now() at time zone 'utc') - n * interval '1 day' as at) as triggered;
  insert into mirror.build_logs (build_id, error)
  select id, 'fatal: unable to access the repository' from mirror.builds where not success;
  insert into mirror.builds (id, date, state, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  values ('2000', date_trunc('second', now() at time zone 'utc') - interval '5 hours', 'building', 'html', '1', '1', now(), now(), '');

  insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id, rule)
  select id, 1, state, date at time zone 'utc', date at time zone 'utc' + interval '90 s', 2, 'date' from mirror.builds;
  insert into sync.open_builds (build_id, since, seen_at, run_id)
  values ('2000', now(), now(), 2);
`;

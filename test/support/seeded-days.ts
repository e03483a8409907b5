import { withTestSql } from "./database.ts";
import { EACH_LIST } from "./mirror-rows.ts";
import { refreshPages } from "./served-pages.ts";

/** A mirror that was read whole a minute ago, with three projects, of which the first has a version. */
const READ_WHOLE = `
  insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
  values ('full', 'succeeded', now() - interval '2 minutes', now() - interval '1 minute', now(), 1, 'test');
  insert into sync.walks (run_id, resource, walk, started_at, finished_at, pages)
  select 1, resource, 'whole', now() - interval '2 minutes', now() - interval '1 minute', 1
  from ${EACH_LIST} as resource;
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  select n::text, 'project-' || n, 'Project ' || n, 'list', true, now(), now(), '' from generate_series(1, 12) as n;
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  select n::text, 'latest', n::text, now(), now(), '' from generate_series(1, 12) as n;
`;

/**
 * Fills a mirror by days. `rows` is a query with columns id, ago (whole days before today; 1 is yesterday), minute
 * (after noon of that day; of today never later than three minutes ago), type, project, success (null for a build that is stuck) and error. Its reports are up to date.
 */
export async function seedDays(databaseUrl: string, rows: string): Promise<void> {
  await withTestSql(databaseUrl, (sql) =>
    sql.unsafe(`${READ_WHOLE}
      create temporary table row as ${rows};
      insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
      select id, case when ago = 0 then greatest(date_trunc('day', now() at time zone 'utc'), least(at, date_trunc('second', now() at time zone 'utc') - interval '3 minutes')) else at end,
        case when success is null then 'building' else 'finished' end, success, type, project, project,
        at at time zone 'utc', now(), ''
      from row cross join lateral (
        select date_trunc('day', now() at time zone 'utc') - ago * interval '1 day' + interval '12 hours' + minute * interval '1 minute' as at
      ) as triggered;
      insert into mirror.build_logs (build_id, error) select id, error from row where error is not null;
      insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id, rule)
      select id, 1, state, date at time zone 'utc', date at time zone 'utc' + interval '30 s', 1, 'date' from mirror.builds;
      insert into sync.open_builds (build_id, since, seen_at, run_id)
      select id, date at time zone 'utc', now(), 1 from mirror.builds where state = 'building';
      drop table row;`),
  );
  await refreshPages(databaseUrl);
}

/** A day before today, as a page names it: `7 Nov`; with its year where that is not this one. */
export function dayAgo(ago: number): string {
  const day = new Date(Date.now() - ago * 86_400_000);
  const month = day.toLocaleString("en-US", { month: "short", timeZone: "UTC" });
  const year = day.getUTCFullYear() === new Date().getUTCFullYear() ? "" : ` ${day.getUTCFullYear()}`;
  return `${day.getUTCDate()} ${month}${year}`;
}

/** The same as Postgres writes it: 2026-11-07. */
export const dateAgo = (ago: number): string =>
  new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

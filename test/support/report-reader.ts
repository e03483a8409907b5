import { afterAll, beforeAll } from "vitest";
import { fillMirror } from "../../lab/bench/report-world.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { connect } from "../../src/store/connection/connect.ts";
import { createTestDatabase } from "./database.ts";
import { REPORT_SETTINGS } from "./reported-mirror.ts";
import { createReader } from "./roles.ts";

export type ReportReader = Awaited<ReturnType<typeof openReportReader>>;

/**
 * A mirror of a thousand builds and more of 400 days with its reports, and a reader of them: some builds are open or stuck, and yesterday had one
 * incident hour. Projects 2 and 3 have one slug.
 */
export async function openReportReader() {
  const database = await createTestDatabase();
  const { sql: owner } = database;
  await fillMirror(owner, 1500, 150);
  await owner.unsafe(YESTERDAY_AND_TODAY);
  await owner`update mirror.projects set slug = 'project-2' where id = '3'`;
  await refreshReport(database.sql, REPORT_SETTINGS);
  const role = await createReader(database);
  const sql = connect(role.url, { applicationName: "docmirror test", max: 1 });
  return {
    /** One connection that may read schema `report` and nothing else, as that of a BI tool. */
    sql,
    /** With the rights of the role that owns the mirror. */
    databaseUrl: database.url,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 5 });
      await role[Symbol.asyncDispose]();
      await database.dispose();
    },
  };
}

/** The same for all tests of a file. */
export function useReportReader(): Pick<ReportReader, "sql"> {
  let reader: ReportReader;
  beforeAll(async () => {
    reader = await openReportReader();
  });
  afterAll(() => reader?.[Symbol.asyncDispose]());
  return {
    get sql() {
      return reader.sql;
    },
  };
}

/**
 * 40 projects build in one hour of yesterday, and all of them fail. Nine builds of today have not finished, some for more than two hours. 20
 * took long and finished without a word on success, 20 are of no project that is known, 5 have no date.
 */
const YESTERDAY_AND_TODAY = `
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select 'incident-' || n, date_trunc('hour', now() at time zone 'UTC') - interval '1 day' + n * interval '1 min', 'finished', false, 'html',
    n::text, ((n - 1) * 4)::text, now() - interval '1 day', now(), '\\x01'
  from generate_series(1, 40) as n;
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select 'odd-' || n, case when n <= 40 then now() at time zone 'UTC' - n * interval '1 day' end, 'finished',
    case when n > 20 then n % 3 = 0 end, 'html', case when n <= 20 or n > 40 then '1' end, null, now(), now(), '\\x03'
  from generate_series(1, 45) as n;
  insert into mirror.build_transitions (build_id, seq, from_state, to_state, not_before, not_after, run_id, rule)
  select id, 1, null, 'finished', coalesce(date at time zone 'UTC', '-infinity'),
    coalesce(date at time zone 'UTC', now()) + interval '1 minute' * case when id like 'odd%' then 90 else 5 end, 1, 'date'
  from mirror.builds where id like 'incident-%' or id like 'odd-%';
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select 'open-' || n, now() at time zone 'UTC' - n * interval '20 min', 'building', true, 'html', '1', '0', now() - n * interval '20 min', now(), '\\x02'
  from generate_series(1, 9) as n;
  insert into sync.open_builds (build_id, since, seen_at, run_id)
  select id, first_seen_at, now(), 1 from mirror.builds where id like 'open-%'`;

import { expect, it } from "vitest";
import { withSql } from "../../src/db/connect.ts";
import { askForBuildTimes } from "../../src/report/build-times-of-project.ts";
import { askFor } from "../../src/report/question.ts";
import { refreshReport } from "../../src/report/refresh.ts";
import { wilsonInterval } from "../../src/report/wilson-interval.ts";
import { createTestDatabase } from "../support/database.ts";

/** One project with some builds a day, two days without any, durations of all kinds, among them some without an upper bound. */
const ROWS = `
  insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
  values ('full', 'succeeded', now() - interval '30 hours', now(), now(), 1, 'test');
  insert into sync.walks (run_id, resource, walk, started_at, finished_at)
  select id, 'build', 'whole', started_at, finished_at from sync.runs;
  insert into mirror.projects (id, slug, source, listed, first_seen_at, changed_at, record_hash)
  values ('1', 'pip', 'list', true, now(), now(), '');
  insert into mirror.builds (id, date, state, success, type, project_id, first_seen_at, changed_at, record_hash)
  select n::text, date_trunc('day', now() at time zone 'utc') - interval '9 days' + n * interval '1 hour',
    'finished', n % 3 > 0, 'html', '1', now(), now(), ''
  from generate_series(0, 191) as n where n / 24 not in (2, 5) and n % 5 > 0;
  insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id, rule)
  select id, 1, 'finished', case when id::int % 24 > 9 or id::int > 100 then date at time zone 'utc' else '-infinity' end,
    date at time zone 'utc' + (id::int % 7) * interval '40 s', 1, 'date' from mirror.builds;
`;

it("a mirror of one project has the build times of all projects, and the intervals of sums are Wilson's", async () => {
  await using database = await createTestDatabase();
  await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    await sql.unsafe(ROWS);
    await refreshReport(database.url, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
    const answer = async ({ text, params }: ReturnType<typeof askFor>) => [
      ...(await sql.unsafe(text, params)),
    ];
    const all = await answer(askFor("build_times_daily"));
    const own = await answer(askForBuildTimes({ project: "pip" }));
    expect(own).toEqual(all);
    expect(own.some(({ p50_s_max }) => p50_s_max === null)).toBe(true);
    expect(own.some(({ p95_s_max }) => Number(p95_s_max) > 0)).toBe(true);
    expect(await answer(askForBuildTimes({ project: "pip", limit: 3 }))).toEqual(all.slice(0, 3));
    const { readable } = askForBuildTimes({ project: "pip", since: "2026-01-01" });
    expect([...(await sql.unsafe(readable))]).toEqual(all);

    for (const day of await answer(askFor("success_rate_daily"))) {
      const interval = wilsonInterval(Number(day.succeeded), Number(day.finished));
      if (day.success_rate_low === null) expect(interval).toBeNull();
      else {
        expect(interval?.low).toBeCloseTo(Number(day.success_rate_low), 9);
        expect(interval?.high).toBeCloseTo(Number(day.success_rate_high), 9);
      }
    }
  });
});

import { describe, expect, it } from "vitest";
import { withSql } from "../../src/db/connect.ts";
import { askForDailyRates, askForDailyTimes } from "../../src/report/days-of-builds.ts";
import { askFor, type Question } from "../../src/report/question.ts";
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

const RATES = [
  "builds",
  "finished",
  "succeeded",
  "failed",
  "success_rate",
  "success_rate_low",
  "success_rate_high",
];

describe("days computed from builds", () => {
  it("are those of the stored answers where the builds are all that there are", async () => {
    await using database = await createTestDatabase();
    await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      await sql.unsafe(ROWS);
      await refreshReport(database.url, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
      const answer = async ({ text, params }: Question) => [...(await sql.unsafe(text, params))];

      const times = await answer(askFor("build_times_daily"));
      expect(times.some(({ p50_s_max }) => p50_s_max === null)).toBe(true);
      expect(times.some(({ p95_s_max }) => Number(p95_s_max) > 0)).toBe(true);
      expect(await answer(askForDailyTimes({ project: "pip" }))).toEqual(times);
      expect(await answer(askForDailyTimes({ type: "html" }))).toEqual(times);
      expect(await answer(askForDailyTimes({ project: "pip", limit: 3 }))).toEqual(times.slice(0, 3));

      const rates = await answer(askFor("success_rate_daily"));
      const own = await answer(askForDailyRates({ project: "pip", version: "(unknown)", type: "html" }));
      const expected = rates.map(({ projects, success_rate_project_mean, ...columns }) => columns);
      const exact = (rows: Record<string, unknown>[]) =>
        rows.map((row) => ({
          ...row,
          ...Object.fromEntries(RATES.map((name) => [name, rounded(row[name])])),
        }));
      expect(exact(own)).toEqual(exact(expected));
      expect(own).toHaveLength(10);

      // What people copy gives the same.
      const narrow = askForDailyRates({
        type: "html",
        since: String(rates[4]?.day),
        until: String(rates[1]?.day),
      });
      expect([...(await sql.unsafe(narrow.readable))]).toEqual(await answer(narrow));
      expect((await answer(narrow)).map(({ day }) => day)).toEqual(rates.slice(1, 5).map(({ day }) => day));

      // Of no builds at all: nothing on days that were looked at, and nothing known of others.
      const none = await answer(askForDailyRates({ type: "pdf" }));
      expect(none.map(({ builds }) => builds)).toEqual(
        rates.map(({ is_covered }) => (is_covered ? 0 : null)),
      );
      expect(
        none.every(
          ({ success_rate, success_rate_low }) => success_rate === null && success_rate_low === null,
        ),
      ).toBe(true);

      for (const { succeeded, finished, success_rate_low: low, success_rate_high: high } of rates) {
        const interval = wilsonInterval(Number(succeeded), Number(finished));
        expect([rounded(interval?.low), rounded(interval?.high)]).toEqual([rounded(low), rounded(high)]);
      }
    });
  });
});

/** Floats that were computed in another order differ behind the twelfth digit; sums of integers may come as texts. */
function rounded(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(Number(value).toFixed(12));
}

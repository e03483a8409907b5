/** `report.failing_on(day)` on the mirror by hand, and beside the model on random builds, for each day of either. */
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createRandom } from "../../src/simulate/random.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { insertTables } from "./insert-rows.ts";
import { computeFacts } from "./model/facts.ts";
import type { Row } from "./model/rates.ts";
import { readRaw } from "./model/raw.ts";
import { failingOn } from "./model/series.ts";
import { RULES } from "./random-failures.ts";
import { ZONE as RANDOM_ZONE } from "./random-lives.ts";
import { createRandomMirror } from "./random-mirror.ts";
import { insertTinyWorld, STUCK_AFTER_MS, ZONE } from "./tiny-world.ts";

const SEED = Number(process.env.REPORT_SEED ?? randomInt(1_000_000));
let database: TestDatabase;
let sql: Sql;

async function open(zone: string, insert: () => Promise<unknown>): Promise<void> {
  database = await createTestDatabase();
  sql = database.sql;
  await sql`delete from report.error_rules`;
  await insertTables(sql, { "report.error_rules": RULES.map((rule) => ({ ...rule, note: "" })) });
  await insert();
  await refreshReport(database.sql, { sourceTimezone: zone, stuckAfterMs: STUCK_AFTER_MS });
}

const close = () => database.dispose();

const ask = async (day: string) => {
  const rows = await sql<Row[]>`
    select * from report.failing_on(${day}) order by length(first_failed_build_id), first_failed_build_id`;
  return [...rows];
};
const idsOf = (rows: readonly Row[]) => rows.map((row) => row.first_failed_build_id);

describe("of the mirror by hand", () => {
  beforeAll(() => open(ZONE, () => insertTinyWorld(sql)));
  afterAll(close);

  test.each([
    // Build 14 failed on the tenth of March, and 13 succeeded in November.
    ["2024-03-10", ["14"]],
    ["2024-06-01", ["14"]],
    ["2024-11-03", []],
    ["2024-12-31", ["2"]],
    // Build 4 succeeded at noon.
    ["2025-01-01", []],
    ["2025-01-03", ["12"]],
    // The project of build 22 and the version of build 23 were found deleted on the eighth.
    ["2025-01-07", ["12", "22", "23"]],
    ["2025-01-08", ["7", "12"]],
  ])("on %s began with these builds", async (day, ids) => {
    expect(idsOf(await ask(day))).toEqual(ids);
  });

  test("is refused on a day before the first known build, of which nothing is known", async () => {
    const refused = "no build of 2024-03-09 or before is known";
    await expect(ask("2024-03-09")).rejects.toThrow(refused);
    for (const join of ["cross join lateral", "left join lateral"]) {
      const rows = sql.unsafe(`select day, count(failing.*)
        from generate_series('2024-03-09'::timestamp, '2024-03-10', '1 day') as day
        ${join} report.failing_on(day::date) as failing ${join.startsWith("left") ? "on true" : ""} group by day`);
      await expect(rows, join).rejects.toThrow(refused);
    }
  });

  test("is counted by day as the manual does it, null where no sync has covered the day", async () => {
    const manual = readFileSync(new URL("../../docs/reports.md", import.meta.url), "utf8");
    const [, text = ""] = /^(select day, case when is_covered .*?) limit 30;$/ms.exec(manual) ?? [];
    const counts = new Map((await sql.unsafe(text)).map(({ day, projects }) => [day, projects]));
    expect(["2024-12-31", "2025-01-01", "2025-01-07", "2025-01-09"].map((day) => counts.get(day))).toEqual([
      1, 0, 3, 2,
    ]);
    expect([counts.get("2025-01-10"), [...counts.values()].at(0)]).toEqual([null, null]);
    expect(counts.has("2024-03-09")).toBe(false);
  });

  test("is what fails now for today, and nothing for no day", async () => {
    const now = await sql`select project_id, version_id, type, failing_since, first_failed_build_id, reference
      from report.failing_now order by length(first_failed_build_id), first_failed_build_id`;
    const [row] = await sql`select (now() at time zone 'UTC')::date::text as today`;
    expect(await ask(row?.today)).toEqual(now.map((row) => expect.objectContaining(row)));
    expect(await sql`select * from report.failing_on(null)`).toHaveLength(0);
  });
});

describe("of builds at midnight", () => {
  beforeAll(() =>
    open("Etc/UTC", () =>
      sql.unsafe(`
        insert into mirror.projects (id, slug, source, listed, first_seen_at, changed_at, record_hash)
        values ('1', 'pip', 'list', true, now(), now(), '');
        insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash) values ('1', 'latest', '1', now(), now(), '');
        insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
        select id, date::timestamp, 'finished', success, type, '1', '1', now(), now(), '' from (values
          ('1', '2025-03-01 10:00', false, 'html'), ('2', '2025-03-03 00:00', true, 'html'), ('3', '2025-03-03 00:00', false, 'pdf')
        ) as of (id, date, success, type)`),
    ),
  );
  afterAll(close);

  test.each([
    ["2025-03-01", ["1"]],
    ["2025-03-02", ["1"]],
    ["2025-03-03", ["3"]],
  ])("on %s began with these builds: midnight is of the day that it begins", async (day, ids) => {
    expect(idsOf(await ask(day))).toEqual(ids);
  });
});

describe("of random builds", () => {
  beforeAll(() => open(RANDOM_ZONE, () => createRandomMirror(createRandom(SEED)).insert(sql, 3000)));
  afterAll(close);

  test("is what the model says of every fifth day", async () => {
    const facts = computeFacts(await readRaw(sql), {
      sourceTimezone: RANDOM_ZONE,
      stuckAfterMs: STUCK_AFTER_MS,
      rules: RULES,
      today: "2026-01-01",
      fingerprintOf: () => null,
    });
    const days = await sql<{ day: string }[]>`
      select day::text from report.success_rate_daily where builds > 0 order by day`;
    const looked = days.filter((_, place) => place % 5 === 0);
    expect(looked.length).toBeGreaterThan(10);
    let rows = 0;
    for (const { day } of looked) {
      const actual = await ask(day);
      const byId = new Map(failingOn(facts, day).map((row) => [row.first_failed_build_id, row]));
      expect([SEED, day, idsOf(actual).toSorted()]).toEqual([SEED, day, [...byId.keys()].toSorted()]);
      expect([SEED, actual]).toEqual([SEED, actual.map((row) => byId.get(row.first_failed_build_id ?? ""))]);
      rows += actual.length;
    }
    expect(rows).toBeGreaterThan(50);
  });
});

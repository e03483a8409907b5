/** Hours in which the platform failed, computed by hand. */
import { expect, test } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createTestDatabase } from "../support/database.ts";
import { REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { compareRows, readRelation } from "./compare.ts";

/**
 * Ten projects build well at ten hours. At 12:00 all ten fail, project 1 in one of two builds. At 13:00 the first seven fail. At 14:00 eight build and
 * three of them fail. What is of an unknown project, or has not finished, counts for no incident. All failures of 12:00 and 13:00 say that the disk
 * was full.
 */
const BUILDS = `
  insert into mirror.projects (id, slug, source, listed, first_seen_at, changed_at, record_hash)
  select project::text, 'project-' || project, 'list', true, '2025-01-01Z', '2025-01-01Z', ''
  from generate_series(1, 10) as project;

  insert into mirror.builds (id, date, state, success, type, project_id, first_seen_at, changed_at, record_hash)
  select row_number() over ()::text, timestamp '2025-01-01' + hour * interval '1 hour' + interval '59 minutes', state, success,
    'html', project::text, '2025-01-01Z', '2025-01-01Z', ''
  from (
    select hour, project, 'finished' as state, true as success from generate_series(0, 9) as hour, generate_series(1, 10) as project
    union all select 12, project, 'finished', false from generate_series(1, 10) as project
    union all select 12, 1, 'finished', true
    union all select 12, null, 'finished', false from generate_series(1, 5)
    union all select 12, project, 'building', false from generate_series(1, 10) as project
    union all select 13, project, 'finished', false from generate_series(1, 7) as project
    union all select 13, null, 'finished', false from generate_series(1, 5)
    union all select 14, project, 'finished', project > 3 from generate_series(1, 8) as project
  ) as build;

  insert into mirror.build_logs (build_id, error)
  select id, 'No space left on device' from mirror.builds where date::time between '12:00' and '13:59' and not success`;

test("an hour is an incident when more projects fail than their own rates allow, eight building at least", async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  await sql.unsafe(BUILDS);
  await refreshReport(sql, REPORT_SETTINGS);
  // Of 125 hours of projects 20 failed: 4/25. A project's rate is that of its other hours and of five more that fail so often, 0.8 of them.
  // At 12:00: projects 1 to 3 fail in two of 12 others, 2.8/17 each; 4 to 7 in one of 12, 1.8/17; 8 in none of 11, 0.8/16; 9 and 10 in none of 10, 0.8/15.
  const expected = (3 * 2.8) / 17 + (4 * 1.8) / 17 + 0.8 / 16 + (2 * 0.8) / 15;
  // Seven are too few to tell. At 14:00 a tail of 0.12 is no wonder.
  const incident = {
    hour: "2025-01-01 12:00:00+00",
    projects: 10,
    projects_failing: 10,
    builds: 11,
    failed: 10,
    projects_expected: expected,
    probability: (expected / 10) ** 10,
  };
  expect(expected).toBeCloseTo(1.0743137, 7);
  expect(compareRows("incident_hours", await readRelation(sql, "incident_hours"), [incident])).toEqual([]);

  // All 16 that finished at 12:00 are left out, the unknown project's too, and the 12 failures of 13:00. What failed at
  // 12:00 for the platform's fault is left out once.
  const days = await readRelation(sql, "success_rate_without_platform");
  const first = days.filter(({ day }) => day === "2025-01-01");
  const rates = {
    day: "2025-01-01",
    incident_hours: 1,
    finished: 136,
    succeeded: 106,
    failed: 30,
    success_rate: 106 / 136,
    finished_without_platform: 108,
    succeeded_without_platform: 105,
    failed_without_platform: 3,
    success_rate_without_platform: 105 / 108,
  };
  expect(compareRows("success_rate_without_platform", first, [rates])).toEqual([]);
});

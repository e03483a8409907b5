import { randomInt } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { DICTIONARY } from "../../src/report/dictionary.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createRandom } from "../../src/simulate/random.ts";
import { connect } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase } from "../support/database.ts";
import { useDatabase } from "../support/use-database.ts";
import { COMPARED, type Compared, compareRows, findDifferences, readRelation } from "./compare.ts";
import { type InsertedRow, insertRows, insertTables } from "./insert-rows.ts";
import type { ErrorRule } from "./model/facts.ts";
import type { Row } from "./model/rates.ts";
import { readRaw } from "./model/raw.ts";
import { momentText, parseDay } from "./model/times.ts";
import { type Answers, computeReport, MODELLED, type Modelled } from "./model.ts";
import { FAILURES } from "./random-failures.ts";
import { ZONE } from "./random-lives.ts";
import { createRandomMirror } from "./random-mirror.ts";
import { cellValue, parseTable } from "./text-table.ts";
import { insertTinyWorld, RULES, SETTINGS } from "./tiny-world.ts";
import { DIMENSIONS, HAND_COMPUTED } from "./tiny-world-answers.ts";

const SEED = Number(process.env.REPORT_SEED ?? randomInt(1_000_000));
const BUILDS = 5000;
const STUCK_AFTER_MS = 2 * 3_600_000;

const random = createRandom(SEED);
const mirror = createRandomMirror(random);
const database = useDatabase();
const { sql } = database;
let rules: readonly ErrorRule[] = RULES;

beforeAll(async () => {
  await replaceRules(RULES);
  await refreshReport(database.url, { sourceTimezone: ZONE, stuckAfterMs: STUCK_AFTER_MS });
  await mirror.insert(sql, BUILDS);
});

async function replaceRules(ones: readonly ErrorRule[]): Promise<void> {
  rules = ones;
  await sql`delete from report.error_rules`;
  await insertTables(sql, { "report.error_rules": ones.map((rule) => ({ ...rule, note: "" })) });
}

async function findFaults(options: { stuckAfterMs?: number; reclassify?: boolean } = {}): Promise<string[]> {
  const { stuckAfterMs = STUCK_AFTER_MS, reclassify = false } = options;
  const today = await findToday();
  // What is dear to compute is left for later when it was computed a moment ago.
  await sql`update rollup.state set dear_refreshed_at = null`;
  await refreshReport(database.url, { sourceTimezone: ZONE, stuckAfterMs, reclassify });
  const facts = await readRelation(sql, "fact_builds");
  const fingerprints = new Map(facts.map((row) => [row.build_id, row.error_fingerprint as string | null]));
  const fingerprintOf = (id: string) => fingerprints.get(id) ?? null;
  const settings = { sourceTimezone: ZONE, stuckAfterMs, rules, fingerprintOf, today };
  const faults = await findDifferences(sql, computeReport(await readRaw(sql), settings));
  return today === (await findToday()) ? faults : findFaults(options);
}

async function findToday(): Promise<string> {
  const [{ today }] = await sql<[{ today: string }]>`select (now() at time zone 'UTC')::date as today`;
  return today;
}

const OTHER_RULES = RULES.toReversed().map((rule, position) => {
  return { ...rule, position, class: `${rule.class}_now` };
});

/** Each does something to the mirror that runs, users or upstream do. */
type Change = { name: string; make(): Promise<unknown>; options?: Parameters<typeof findFaults>[0] };
const CHANGES: readonly Change[] = [
  { name: "new builds", make: () => mirror.add(sql, 60) },
  {
    name: "a project that got worse, and a series that takes turns",
    make: async () => {
      const [worse, turning] = [mirror.pick(150), mirror.pick(60)];
      await sql`
        update mirror.builds set project_id = '6', date = timestamp '2024-12-16' + hashtext(id) % 14 * interval '1 day', state = 'finished'
        where id in ${sql(worse)}`;
      await sql`
        update mirror.builds set project_id = '8', version_id = '8', type = 'html', state = 'finished' where id in ${sql(turning)}`;
      await sql`
        update mirror.builds set success = turn.success from (
          select id, case project_id when '8' then row_number() over (partition by project_id order by date nulls first, length(id), id) % 2 = 0
            else date < '2024-12-23' end as success
          from mirror.builds where (project_id = '6' or (project_id, version_id, type) = ('8', '8', 'html')) and state = 'finished'
        ) as turn
        where builds.id = turn.id`;
    },
  },
  { name: "builds that moved on, or back", make: () => mirror.change(sql, 80) },
  {
    name: "a few builds at a time, and a refresh after each",
    make: async () => {
      for (let turn = 0; turn < 12; turn++) {
        await mirror.change(sql, 3);
        await mirror.add(sql, 1);
        await refreshReport(database.url, { sourceTimezone: ZONE, stuckAfterMs: STUCK_AFTER_MS });
      }
    },
  },
  {
    name: "builds that were deleted upstream, and some that came back",
    make: () => sql`
      update mirror.builds set deleted_at = case when deleted_at is null then now() end where id in ${sql(mirror.pick(50))}`,
  },
  {
    name: "projects and versions that were found later, and some that were lost; the list was never read as a whole",
    make: async () => {
      await sql`
        update mirror.builds set project_id = case when project_id is null then '3' end, version_id = '5'
        where project_id is null or id in ${sql(mirror.pick(20))}`;
      await sql`update sync.walks set walk = 'not_whole' where walk = 'whole'`;
    },
  },
  {
    name: "projects and versions that are called otherwise, are gone, or are back",
    make: async () => {
      await sql`update mirror.projects set slug = 'renamed', name = null where id in ('1', '7')`;
      await sql`update mirror.versions set slug = null, verbose_name = 'renamed' where id in ('1', '2', '3')`;
      await sql`update mirror.projects set deleted_at = case when deleted_at is null then now() end where id in ('2', '3', '4')`;
      await sql`update mirror.versions set deleted_at = case when deleted_at is null then now() end where id ~ '^1'`;
    },
  },
  {
    name: "dates, types and texts that upstream set right",
    make: async () => {
      const [dated, late] = [mirror.pick(30), mirror.pick(200)];
      await sql`update mirror.builds set date = date + interval '5 days 3 hours', type = 'html' where id in ${sql(dated)}`;
      await sql`update mirror.build_logs set error = 'fatal: this came late' where build_id in ${sql(late)}`;
      await sql`update mirror.builds set record_hash = 'right', changed_at = now() where id in ${sql([...dated, ...late])}`;
    },
  },
  {
    name: "open builds that were seen again, and the whole list once more",
    make: async () => {
      const seen = sql(mirror.pick(2000));
      await sql`update sync.open_builds set seen_at = seen_at + interval '90 minutes' where build_id in ${seen}`;
      await sql`
        update sync.walks set started_at = '2024-12-31 20:00Z', finished_at = '2024-12-31 20:01Z', walk = 'whole' where run_id = 3`;
    },
  },
  {
    name: "other rules and another age from which on a build is stuck",
    make: () => replaceRules(OTHER_RULES),
    options: { reclassify: true, stuckAfterMs: STUCK_AFTER_MS / 2 },
  },
];

test("the database answers as the model does, at first and after each change, and as it does from nothing", {
  tags: ["long"],
}, async () => {
  expect(await findFaults(), `REPORT_SEED=${SEED}`).toEqual([]);
  for (const { name, make, options } of CHANGES) {
    await make();
    expect(await findFaults(options), `after ${name}; REPORT_SEED=${SEED}`).toEqual([]);
  }
  const kept = { sourceTimezone: ZONE, stuckAfterMs: STUCK_AFTER_MS / 2 };
  expect(await refreshReport(database.url, kept), "a refresh without any change").toMatchObject({
    changed: 0,
    isFull: false,
  });
  await using fresh = await createTestDatabase();
  for (const table of SOURCES) await copyTable(table, sql, fresh.sql);
  await refreshReport(fresh.url, kept);
  const faults: string[] = [];
  for (const relation of COMPARED) {
    const [one, other] = [await readRelation(sql, relation), await readRelation(fresh.sql, relation)];
    faults.push(...compareRows(relation, one, other));
  }
  expect(faults, `what was kept is not what nothing gives; REPORT_SEED=${SEED}`).toEqual([]);
});

test("failures that differ only in paths, hashes, numbers, dates and URLs have one fingerprint, others have others", async () => {
  await refreshReport(database.url, { sourceTimezone: ZONE, stuckAfterMs: STUCK_AFTER_MS });
  const facts = await readRelation(sql, "fact_builds");
  const found = FAILURES.map(([mark]) => {
    const alike = facts.filter(({ error_line: line }) => typeof line === "string" && line.includes(mark));
    expect(alike.length).toBeGreaterThan(10);
    return [...new Set(alike.map(({ error_fingerprint }) => error_fingerprint))];
  });
  expect(found.map(({ length }) => length)).toEqual(FAILURES.map(() => 1));
  expect(new Set(found.flat()).size).toBe(FAILURES.length);
  expect(found.flat().join()).toMatch(/^[0-9a-f]{16}(,[0-9a-f]{16})*$/);
});

const SOURCES = [
  ...["sync.runs", "sync.walks", "mirror.projects", "mirror.versions", "mirror.builds", "mirror.build_logs"],
  ...["mirror.build_transitions", "sync.open_builds", "report.error_rules"],
];
async function copyTable(table: string, from: Sql, to: Sql): Promise<void> {
  if (table === "report.error_rules") await to`delete from report.error_rules`;
  const rows = await from.unsafe<{ row: InsertedRow }[]>(
    `select to_jsonb(one) as row from ${table} as one order by one`,
  );
  // Postgres computes `is_good` itself.
  const plain = rows.map(({ row: { id, is_good: _computed, ...others } }) =>
    table === "sync.runs" || id === undefined ? others : { id, ...others },
  );
  await insertRows(to, table, plain);
}

/** Those that have a row for days without builds too, and the last day that is covered. */
const BY_DAY: readonly Modelled[] = [
  ...(["success_rate_daily", "build_times_daily", "broke_daily", "success_rate_without_platform"] as const),
];
const COVERED = "2025-01-09";
const TURNS = ["broke", "fixed", "born_broken"];
const COUNTS = [
  ...["builds", "finished", "succeeded", "failed", "projects", "unfinished", "stuck"],
  ...["failures", "incident_hours"],
  ...["finished_without_platform", "succeeded_without_platform", "failed_without_platform"],
  ...TURNS.flatMap((turn) => [turn, `projects_${turn}`]),
];
/** The keys of the rows by hand, where they differ: only the database knows fingerprints. */
const HAND_KEYS: Partial<Record<Modelled, readonly string[]>> = {
  error_fingerprints: ["rank"],
  error_lines: ["error_line"],
  error_fingerprints_daily: ["day", "error_class"],
};
let today: string;
const answers: Record<"database" | "model", Partial<Answers>> = { database: {}, model: {} };

beforeAll(async () => {
  await insertTinyWorld(sql);
  await sql`delete from report.error_rules`;
  await insertTables(sql, { "report.error_rules": RULES.map((rule) => ({ ...rule, note: "" })) });
  await refreshReport(database.url, SETTINGS);
  const [now] = await sql<[{ today: string }]>`select (now() at time zone 'UTC')::date as today`;
  today = now.today;
  for (const relation of MODELLED) answers.database[relation] = await readRelation(sql, relation);
  const fingerprintOf = (_id: string, line: string | null) =>
    line?.toLowerCase().replace(/[\d.]+/g, "n") ?? null;
  answers.model = computeReport(await readRaw(sql), { ...SETTINGS, rules: RULES, fingerprintOf, today });
});

/** What is different from a table; one that is a part lists some of the rows only. */
function compareWithTable(
  relation: Compared,
  actual: readonly Row[],
  table: string,
  { keys = DICTIONARY[relation].key, isPart = false }: { keys?: readonly string[]; isPart?: boolean } = {},
): string[] {
  const keyOf = (row: Row) => keys.map((key) => String(row[key])).join(" ");
  const rows = new Map(actual.map((row) => [keyOf(row), row]));
  const expected = parseTable(table).map((row) => {
    const like = rows.get(keyOf(row)) ?? {};
    return Object.fromEntries(
      Object.entries(row).map(([column, cell]) => [column, cellValue(cell, like[column] ?? null)]),
    );
  });
  const listed = new Set(expected.map(keyOf));
  const looked = isPart ? actual.filter((row) => listed.has(keyOf(row))) : actual;
  return compareRows(relation, looked, expected, keys);
}

describe.each(["database", "model"] as const)("the %s", (who) => {
  test.each(MODELLED)("answers %s as computed by hand", (relation) => {
    const actual = answers[who][relation] ?? [];
    const keys: readonly string[] = HAND_KEYS[relation] ?? DICTIONARY[relation].key;
    const isPart =
      ["fact_builds", "backlog", "arrivals_hourly"].includes(relation) || BY_DAY.includes(relation);
    for (const table of HAND_COMPUTED[relation])
      expect(compareWithTable(relation, actual, table, { keys, isPart })).toEqual([]);
  });

  test.each(BY_DAY)("fills the holes of %s up to today", (relation) => {
    const listed = new Set(HAND_COMPUTED[relation].flatMap(parseTable).map(({ day }) => day));
    const rows = answers[who][relation] ?? [];
    const faults = rows.filter(({ day, is_covered, is_complete, ...counts }) => {
      if (listed.has(String(day))) return false;
      const isCovered = String(day) <= COVERED;
      const isEmpty = Object.entries(counts).every(
        ([what, count]) => count === (isCovered && COUNTS.includes(what) ? 0 : null),
      );
      // The last one was not over yet when the list was read.
      return !isEmpty || is_covered !== isCovered || is_complete !== String(day) < COVERED;
    });
    expect(faults).toEqual([]);
    const days = rows.map(({ day }) => parseDay(String(day))).filter((day) => day <= parseDay(today));
    const [first = 0] = days.sort((a, b) => a - b);
    expect(days).toEqual(Array.from({ length: parseDay(today) - first + 1 }, (_, ago) => first + ago));
  });
});

test.each([
  "database",
  "model",
] as const)("the backlog of the %s has every hour from the first build to the last one covered", (who) => {
  const hours = (answers[who].backlog ?? [])
    .map(({ hour }) => Date.parse(`${hour}:00`))
    .sort((a, b) => a - b);
  expect(hours.slice(1).filter((hour, index) => hour - (hours[index] ?? 0) !== 3_600_000)).toEqual([]);
  // 305 days, from eight to six o'clock.
  expect(hours.length).toBe(305 * 24 - 2 + 1);
});

test.each(["database", "model"] as const)("the %s has 24 hours of arrivals, most of them empty", (who) => {
  const rows = answers[who].arrivals_hourly ?? [];
  expect(rows.map(({ hour }) => Date.parse(`${hour}:00`)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 24 }, (_, place) => Date.parse("2025-01-08T07:00Z") + place * 3_600_000),
  );
  expect(rows.filter(({ builds }) => builds !== 0)).toHaveLength(3);
});

describe("the dimensions", () => {
  test.each(["dim_projects", "dim_versions"] as const)("tell every row of %s", async (relation) => {
    const rows = await readRelation(sql, relation);
    expect(compareWithTable(relation, rows, DIMENSIONS[relation])).toEqual([]);
  });

  test("have every day from the first build to the end of next year, and none for a date beyond tomorrow", async () => {
    const rows = await readRelation(sql, "dim_dates");
    expect(compareWithTable("dim_dates", rows, DIMENSIONS.dim_dates, { isPart: true })).toEqual([]);
    const days = rows.map(({ day }) => String(day)).sort();
    const last = `${Number(today.slice(0, 4)) + 1}-12-31`;
    expect(days.at(-1)).toEqual(last);
    expect(days.length).toBe(parseDay(last) - parseDay("2024-03-10") + 1);
  });
});

// At any time of the day it is another day in one of these.
test.each([
  "Pacific/Kiritimati",
  "Pacific/Niue",
])("the answers are the same for a reader in %s", async (TimeZone) => {
  const session = { TimeZone, DateStyle: "ISO" };
  const there = connect(database.url, { applicationName: "docmirror test", max: 1, session });
  try {
    for (const relation of MODELLED) {
      const rows = (await readRelation(there, relation)).map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, value]) => [column, inUtc(value)])),
      );
      expect(compareRows(relation, rows, answers.database[relation] ?? [])).toEqual([]);
    }
  } finally {
    await there.end({ timeout: 5 });
  }
});

function inUtc(value: Row[string]): Row[string] {
  const isMoment = typeof value === "string" && /^\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*[+-]\d\d$/.test(value);
  return isMoment ? momentText(Date.parse(`${value}:00`) * 1000) : value;
}

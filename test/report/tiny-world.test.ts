/** The database, and the model that judges it elsewhere, both come to what was computed by hand. */
import { beforeAll, describe, expect, test } from "vitest";
import { DICTIONARY } from "../../src/report/dictionary.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { connect } from "../../src/store/connection/connect.ts";
import { useDatabase } from "../support/use-database.ts";
import { type Compared, compareRows, readRelation } from "./compare.ts";
import { insertTables } from "./insert-rows.ts";
import type { Row } from "./model/rates.ts";
import { readRaw } from "./model/raw.ts";
import { momentText, parseDay } from "./model/times.ts";
import { type Answers, computeReport, MODELLED, type Modelled } from "./model.ts";
import { cellValue, parseTable } from "./text-table.ts";
import { insertTinyWorld, RULES, SETTINGS } from "./tiny-world.ts";
import { DIMENSIONS, HAND_COMPUTED } from "./tiny-world-answers.ts";

/** Those that have a row for days without builds too, and the last day that is covered. */
const BY_DAY: readonly Modelled[] = [
  ...(["success_rate_daily", "build_times_daily", "broke_daily", "success_rate_without_platform"] as const),
];
const COVERED = "2025-01-09";
const TURNS = ["broke", "fixed", "born_broken"];
const COUNTS = [
  ...["builds", "finished", "succeeded", "failed", "projects", "unfinished", "stuck", "cancelled"],
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

const database = useDatabase();
const { sql } = database;
let today: string;
const answers: Record<"database" | "model", Partial<Answers>> = { database: {}, model: {} };

beforeAll(async () => {
  await insertTinyWorld(sql);
  await sql`delete from report.error_rules`;
  await insertTables(sql, { "report.error_rules": RULES.map((rule) => ({ ...rule, note: "" })) });
  await refreshReport(database.sql, SETTINGS);
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

test.each([
  [190, 210, 200],
  [180, 220, 200],
  [179, 221, null],
  [0, 276_493, null],
  [0, 0, 0],
  [200, null, null],
])("a percentile from %s to %s s is one number only where it is known within a tenth: %s", async (least, most, told) => {
  const undo = new Error("undo");
  const asking = sql.begin(async (tx) => {
    await tx`
      update rollup.days set p50_s_min = ${least}, p50_s_max = ${most}, p90_s_min = ${least}, p90_s_max = ${most},
        p95_s_min = ${least}, p95_s_max = ${most} where day = '2025-01-06'`;
    const rows = await tx`select p50_s, p90_s, p95_s from report.build_times_daily where day = '2025-01-06'`;
    expect(rows).toEqual([{ p50_s: told, p90_s: told, p95_s: told }]);
    throw undo;
  });
  await expect(asking).rejects.toBe(undo);
});

test.each([
  ["dim_projects", "project_id", ["800"]],
  ["dim_versions", "version_id", ["41", "800"]],
] as const)("of %s the words of its dictionary find what has no build, without deleted ones and -1", async (dimension, key, idle) => {
  const [, condition = ""] = /where (.*)\.$/.exec(DICTIONARY[dimension].answers) ?? [];
  const undo = new Error("undo");
  const asking = sql.begin(async (tx) => {
    await tx.unsafe(`
      insert into report.${dimension} select (jsonb_populate_record(unknown, jsonb_build_object('${key}', id, 'is_deleted', is_gone))).*
      from report.${dimension} as unknown, (values ('800', false), ('900', true)) as made (id, is_gone) where unknown.${key} = '-1'`);
    const rows = await tx.unsafe(`
      select ${key} as id from report.${dimension} left join (select * from report.fact_builds where ${key} <> '-1') as fact using (${key})
      where build_id is null and ${condition} order by 1`);
    expect(rows.map(({ id }) => id)).toEqual(idle);
    throw undo;
  });
  await expect(asking).rejects.toBe(undo);
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

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { orderDefinitions, readDefinitions } from "../../../src/report/definitions.ts";
import { DICTIONARY } from "../../../src/report/dictionary.ts";
import { grantReader, planReaderGrant } from "../../../src/report/grant-reader.ts";
import { isReportBehind, refreshReport } from "../../../src/report/refresh/refresh.ts";
import type { Definitions } from "../../../src/store/migrate/definitions.ts";
import { assertUsable, migrate, migrationStatus, pendingSql } from "../../../src/store/migrate/migrate.ts";
import { createTestDatabase } from "../../support/database.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const definitions = readDefinitions();
const TEXTS = new Map(definitions.inOrder.map(({ name, text }) => [name, text]));

/** The program's definitions with other texts for some; null leaves one out. */
function redefine(changes: Record<string, ((text: string) => string) | null>): Definitions {
  const texts = new Map(TEXTS);
  for (const [name, change] of Object.entries(changes)) {
    if (change === null) texts.delete(name);
    else texts.set(name, change(TEXTS.get(name) ?? ""));
  }
  return { ...definitions, inOrder: orderDefinitions([...texts.values()]) };
}

/** Fewer incident hours: its columns stay. */
const FEWER = redefine({ "report.incident_hours": (text) => text.replace("<= 0.00001", "<= 0.000001") });
/** A column by another name, which no view can be replaced by. */
const RENAMED = redefine({
  "report.incident_hours": (text) => text.replace("builds, failed", "builds, failed AS fails"),
  "report.platform_trouble": (text) => text.replace("newest.failed", "newest.fails"),
});
const OPEN = ["report.incident_hours", "report.platform_trouble", "report.success_rate_without_platform"];

const settings = { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 };
let role: string;
const database = useDatabase(() => createTestDatabase({ max: 2 }), "test");
const { sql } = database;
/** As a program with these definitions does at its start. */
const assertUsableBy = async (program: Definitions) => assertUsable(await migrationStatus(sql, program));
beforeEach(() => {
  role = `reader_${new URL(database.url).pathname.slice(-12)}`;
});
afterEach(() => sql.unsafe(`drop owned by ${role}; drop role ${role}`).catch(() => {}));

/** What shows in the catalog when a view or a function is made anew, in place or not. */
async function catalog() {
  const rows = await sql<{ name: string; made: string }[]>`
    select nspname || '.' || relname as name, concat_ws(' ', class.oid, pg_rewrite.xmin) as made
    from pg_class as class join pg_namespace as space on space.oid = relnamespace join pg_rewrite on ev_class = class.oid
    where nspname in ('report', 'report_people', 'rollup')
    union all
    select nspname || '.' || proname, concat_ws(' ', routine.oid, routine.xmin)
    from pg_proc as routine join pg_namespace as space on space.oid = pronamespace
    where nspname in ('report', 'report_people', 'rollup')`;
  return Object.fromEntries(rows.map(({ name, made }) => [name, made]));
}

async function changedBy(work: () => Promise<unknown>): Promise<string[]> {
  const before = await catalog();
  await work();
  const after = await catalog();
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return all.filter((name) => before[name] !== after[name]).toSorted();
}

const mayRead = async (relation: string) =>
  (await sql<{ may: boolean }[]>`select has_table_privilege(${role}, ${relation}, 'select') as may`)[0]?.may;
async function columnsOf(relation: string) {
  const rows = await sql<{ column: string; means: string | null }[]>`
    select attname as "column", col_description(attrelid, attnum) as means
    from pg_attribute where attrelid = ${relation}::regclass and attnum > 0 order by attnum`;
  return rows.map(({ column, means }) => [column, means]);
}

describe("a changed text", () => {
  test("is re-created with what builds on it, and nothing else is touched", async () => {
    expect(await migrationStatus(sql, FEWER)).toMatchObject({ state: "older", outdated: OPEN });
    const changed = await changedBy(async () => {
      expect(await migrate(database.url, FEWER)).toMatchObject({ applied: [], redefined: OPEN });
    });
    expect(changed).toEqual(OPEN);
    expect(await migrationStatus(sql, FEWER)).toMatchObject({ state: "current", outdated: [] });
  });

  test("leaves rights, comments and views of the user's own", async () => {
    await sql.unsafe(`create role ${role}; grant select on report.incident_hours to ${role}`);
    await sql`create view public.mine as select hour, probability from report.incident_hours`;
    const before = await columnsOf("report.incident_hours");
    await migrate(database.url, FEWER);
    expect(await columnsOf("report.incident_hours")).toEqual(before);
    expect(Object.fromEntries(before)).toEqual(DICTIONARY.incident_hours.columns);
    const readable = ["report.incident_hours", "report.success_rate_without_platform"];
    expect(await Promise.all(readable.map(mayRead))).toEqual([true, false]);
    expect([...(await sql`select from public.mine`)]).toEqual([]);
  });

  test("is what the next refresh computes everything by, where stored answers come from it", {
    tags: ["long"],
  }, async () => {
    await refreshReport(database.sql, settings);
    await migrate(database.url, FEWER);
    expect(await isReportBehind(sql)).toBe(false);
    const shorter = redefine({ "rollup.error_fingerprint": (text) => text.replace("16)", "12)") });
    await migrate(database.url, shorter);
    expect(await isReportBehind(sql)).toBe(true);
    expect(await refreshReport(database.sql, settings)).toMatchObject({ isFull: true });
    expect(await isReportBehind(sql)).toBe(false);
    expect(await refreshReport(database.sql, settings)).toMatchObject({ isFull: false });
  });

  test("of two functions of one name leaves views and rights of both", async () => {
    const right = "execute on function report.wilson_low(float8, float8)";
    await sql.unsafe(`create role ${role}; grant ${right} to ${role}`);
    const ofCounts = `CREATE OR REPLACE FUNCTION report.wilson_low(succeeded bigint, finished bigint) RETURNS float8
LANGUAGE sql IMMUTABLE AS $$ SELECT report.wilson_low(succeeded::float8, finished::float8) $$;`;
    const both = (text: string) => `${text}\n${ofCounts}`;
    await migrate(database.url, redefine({ "report.wilson_low": both }));
    await sql`
      create view public.mine as
      select report.wilson_low(1::bigint, 4::bigint) as of_counts, report.wilson_low(1::numeric, 4) as of_sums`;
    const wider = redefine({ "report.wilson_low": (text) => both(text).replaceAll("1.96::", "2.58::") });
    const [before] = await sql<{ of_counts: number }[]>`select * from public.mine`;
    await migrate(database.url, wider);
    const [after] = await sql<{ of_counts: number; of_sums: number }[]>`select * from public.mine`;
    expect(after?.of_counts).toBeLessThan(before?.of_counts ?? 0);
    expect(after?.of_sums).toBe(after?.of_counts);
    const rights = await sql`
      select proacl::text like ${`%${role}=X%`} as may from pg_proc where proname = 'wilson_low' order by 1`;
    expect(rights.map(({ may }) => may === true)).toEqual([true, false]);
  });

  test("waits for no reader of other relations", async () => {
    await sql.begin(async (tx) => {
      await tx`select count(*) from report.success_rate_daily`;
      expect(await migrate(database.url, FEWER)).toMatchObject({ redefined: OPEN });
    });
  });

  test("stands in what --dry-run prints", async () => {
    const pending = await pendingSql(sql, FEWER);
    expect(pending.match(/^-- report\.\w+$/gm)).toEqual(OPEN.map((name) => `-- ${name}`));
    await sql.unsafe(pending);
    expect(await pendingSql(sql, redefine({ "report.runs": null }))).toBe("drop view report.runs;\n");
  });
});

describe("a text that Postgres cannot replace", () => {
  test("is dropped and created again, with what builds on it, its rights and its comments", async () => {
    await grantReader(sql, await planReaderGrant(sql, role));
    await sql.unsafe(`revoke select on report.success_rate_without_platform from ${role}`);
    await sql.unsafe(`grant update on report.incident_hours to ${role} with grant option`);
    expect(await migrate(database.url, RENAMED)).toMatchObject({ redefined: OPEN });
    const columns = await columnsOf("report.incident_hours");
    expect(columns.at(-1)).toEqual(["fails", null]);
    expect(columns).toContainEqual(["hour", DICTIONARY.incident_hours.columns.hour]);
    const readable = ["report.incident_hours", "report.success_rate_without_platform"];
    expect(await Promise.all(readable.map(mayRead))).toEqual([true, false]);
    const [right] = await sql`
      select has_table_privilege(${role}, 'report.incident_hours', 'update with grant option') as kept`;
    expect(right?.kept).toBe(true);
  });

  test("is left as it is where a view of the user's own needs it, and the message names that", async () => {
    await sql`create view public.mine as select hour, probability from report.incident_hours`;
    const changed = await changedBy(() =>
      expect(migrate(database.url, RENAMED)).rejects.toMatchObject({
        exitCode: 4,
        message: expect.stringContaining("view mine depends on view report.incident_hours"),
        hint: expect.stringContaining("create your views again"),
      }),
    );
    expect(changed).toEqual([]);
    expect(await migrationStatus(sql, definitions)).toMatchObject({ state: "current" });
  });

  test("may be a function with other parameters, of which one stays", async () => {
    const wider = redefine({
      "rollup.is_ambiguous": (text) => text.replace("zone text)", "zone text, unused int DEFAULT 0)"),
    });
    await sql`revoke execute on function rollup.is_ambiguous from public`;
    await migrate(database.url, wider);
    const rows = await sql`
      select pronargs as parameters, has_function_privilege('public', oid, 'execute') as "isPublic"
      from pg_proc where pronamespace = 'rollup'::regnamespace and proname = 'is_ambiguous'`;
    expect([...rows]).toEqual([{ parameters: 3, isPublic: false }]);
    expect(await migrate(database.url, definitions)).toMatchObject({ applied: [] });
  });
});

test("a relation that is new comes with the reader's right, one that is gone is dropped", async () => {
  await grantReader(sql, await planReaderGrant(sql, role));
  const without = redefine(Object.fromEntries(OPEN.map((name) => [name, null])));
  expect(await migrate(database.url, without)).toMatchObject({ applied: [], redefined: OPEN });
  expect((await sql`select to_regclass('report.incident_hours') is null as gone`)[0]?.gone).toBe(true);
  expect(await migrate(database.url, definitions)).toMatchObject({ applied: [], redefined: OPEN });
  expect(await mayRead("report.incident_hours")).toBe(true);
  const columns = Object.fromEntries(await columnsOf("report.incident_hours"));
  expect(columns).toEqual(DICTIONARY.incident_hours.columns);
});

test("texts that are the same leave the database untouched", async () => {
  expect(await changedBy(() => migrate(database.url, definitions))).toEqual([]);
  const rows = await sql`select count(*) as n from sync.definitions where version = ${definitions.version}`;
  expect(rows[0]?.n).toBe(definitions.inOrder.length);
});

test("one text that fails takes all others back, and migrations too", { tags: ["long"] }, async () => {
  await using empty = await emptyDatabase();
  const broken = redefine({ "report.runs": (text) => text.replace("sync.runs", "sync.nowhere") });
  await expect(migrate(empty.url, broken)).rejects.toMatchObject({ sqlstate: "42P01" });
  const ours = `select from pg_namespace where nspname in ('mirror', 'sync', 'report')`;
  expect(await empty.sql.unsafe(ours)).toHaveLength(0);
  const fail = () => expect(migrate(database.url, broken)).rejects.toMatchObject({ exitCode: 4 });
  expect(await changedBy(fail)).toEqual([]);
});

test("an older program leaves what a later version defined, a later one asks for migrate", async () => {
  const lacks = expect.stringContaining(`it lacks the new definition of ${OPEN.join(", ")}`);
  const asked = { exitCode: 7, message: lacks, hint: "run `docmirror migrate`" };
  await expect(assertUsableBy(FEWER)).rejects.toMatchObject(asked);
  await migrate(database.url, { ...FEWER, version: "1.10.0" });
  const older = { ...definitions, version: "1.9.1" };
  expect(await migrationStatus(sql, older)).toMatchObject({ state: "newer", usable: true, outdated: OPEN });
  await assertUsableBy(older);
  const leave = async () =>
    expect(await migrate(database.url, older)).toEqual({ applied: [], redefined: [], newer: true });
  expect(await changedBy(leave)).toEqual([]);
  await sql`drop view report.success_rate_without_platform`;
  const message = expect.stringContaining(`a later version defined ${OPEN.join(", ")}`);
  const refused = { exitCode: 7, message, hint: expect.stringContaining("upgrade") };
  await expect(assertUsableBy(older)).rejects.toMatchObject(refused);
  await expect(migrate(database.url, older)).rejects.toMatchObject(refused);
});

/**
 * The sentences of the data dictionary are held against the rows of several worlds, each relation and each column: what is null,
 * what is empty, of what there is one row, and whether the order leaves nothing open. A failure names the seed: REPORT_SEED=… makes
 * the same rows again.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DeclaredRelation } from "../../src/report/declare-relation.ts";
import { DICTIONARY } from "../../src/report/dictionary.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { PEOPLE } from "../../src/report/relations/people.ts";
import { EXPENSIVE_ANSWERS } from "../../src/report/stored/answers.ts";
import { createRandom } from "../../src/simulate/random.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { createReportedMirror } from "../support/reported-mirror.ts";
import { insertTables } from "./insert-rows.ts";
import { insertLedger } from "./ledger-rows.ts";
import { RULES } from "./random-failures.ts";
import { createRandomMirror } from "./random-mirror.ts";
import { insertTinyWorld, SETTINGS } from "./tiny-world.ts";

/** One seed: that each claim is met somewhere depends on what is drawn. */
const SEED = Number(process.env.REPORT_SEED ?? 1);
const BUILDS = 400;

const RELATIONS: readonly (readonly [string, DeclaredRelation])[] = [
  ...Object.entries<DeclaredRelation>(DICTIONARY).map(([name, one]) => [`report.${name}`, one] as const),
  ...Object.entries<DeclaredRelation>(PEOPLE).map(([name, one]) => [`report_people.${name}`, one] as const),
];

const WORLDS: Readonly<Record<string, (database: TestDatabase) => Promise<unknown>>> = {
  "that nobody refreshed": ({ sql }) =>
    sql`insert into rollup.failed_refresh (failed_at, error) values (now(), 'the disk is full')`,
  "without records": ({ sql }) => refreshReport(sql, SETTINGS),
  "by hand": async ({ sql }) => {
    await insertTinyWorld(sql);
    await insertLedger(sql);
    await refreshReport(sql, SETTINGS);
  },
  "by chance": async ({ sql }) => {
    const mirror = createRandomMirror(createRandom(SEED));
    await sql`delete from report.error_rules`;
    await insertTables(sql, { "report.error_rules": RULES.map((rule) => ({ ...rule, note: "" })) });
    await mirror.insert(sql, BUILDS);
    await insertLedger(sql);
    await refreshReport(sql, SETTINGS);
    await mirror.change(sql, BUILDS / 10);
    await refreshReport(sql, SETTINGS);
  },
  "of one build, and one without a date": async ({ sql }) => {
    await sql.unsafe(ONE_BUILD);
    await refreshReport(sql, SETTINGS);
  },
  "that no walk has read as a whole": async ({ sql }) => {
    const mirror = createRandomMirror(createRandom(SEED + 1));
    await mirror.insert(sql, BUILDS / 4);
    await sql`update sync.walks set walk = 'not_whole'`;
    await refreshReport(sql, SETTINGS);
  },
};

const ONE_BUILD = `
  insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host) values ('full', 'succeeded', '2025-01-02 12:00Z', now(), 1, 'test');
  insert into sync.walks (run_id, resource, walk, started_at, finished_at)
  values (1, 'build', 'whole', '2025-01-02 12:00Z', '2025-01-02 12:01Z');
  insert into mirror.builds (id, date, state, success, type, first_seen_at, changed_at, record_hash)
  values ('1', '2025-01-02 06:00', 'finished', true, 'html', '2025-01-02 12:00Z', '2025-01-02 12:00Z', ''),
    ('2', null, 'finished', false, 'html', '2025-01-02 12:00Z', '2025-01-02 12:00Z', '')`;

const worlds = new Map<string, TestDatabase>();
beforeAll(async () => {
  worlds.set("of three builds a day", await createReportedMirror());
  for (const [name, make] of Object.entries(WORLDS)) {
    const database = await createTestDatabase();
    worlds.set(name, database);
    await make(database);
  }
});
afterAll(async () => {
  for (const world of worlds.values()) await world.dispose();
});

type Row = Readonly<Record<string, unknown>>;

/** The rows of a relation in each world, under the world's name. */
async function rowsByWorld(relation: string, { columns }: DeclaredRelation): Promise<[string, Row[]][]> {
  const list = Object.keys(columns).join(", ");
  return Promise.all(
    [...worlds].map(
      async ([world, { sql }]): Promise<[string, Row[]]> => [
        world,
        [...(await sql.unsafe<Row[]>(`select ${list} from ${relation}`))],
      ],
    ),
  );
}

/** In every row of a relation of days: it speaks for the counts beside it. */
const OF_COUNTS = "Counts are then null, not 0, unless builds are known.";
const isCount = (value: unknown) => Number.isInteger(value);
const saysNull = (sentence: string) => /\bnull\b/i.test(sentence.replace(OF_COUNTS, ""));

/** What sentences say of when a column is null, and just when that is so, by columns of the same row. */
const NULL_WHERE: readonly (readonly [words: string, condition: string])[] = [
  ["null where nothing finished", "coalesce({finished}, 0) = 0"],
  ["null where none is left", "coalesce({finished_without_platform}, 0) = 0"],
  ["null while it exists", "not {is_deleted}"],
  ["null while there is none.", "{is_open}"],
  [
    "null while the streak is open or a date is missing",
    "{is_open} or {broke_at} is null or {recovered_at} is null",
  ],
  ["null where all results are equal", "{succeeded} = 0 or {failed} = 0"],
  ["null where p_value is", "{p_value} is null"],
  ["null where none recovered", "{recovered} = 0"],
  ["null without a day", "{triggered_on} is null"],
  ["its utc day: key of dim_dates; null where it has none", "{triggered_at} is null"],
  ["null while it runs", "{finished_at} is null"],
  ["took; null while it goes on", "{finished_at} is null"],
  ["null where nothing fails, or none has a date", "{failing} = 0 or {oldest_failing_since} is null"],
  ["null for builds that did not fail", "{failed} is distinct from 1"],
  ["null for others", "{failed} is distinct from 1"],
  ["null before the first refresh", "{refreshed_at} is null"],
  ["as of the last refresh; null in other rows", "{resource} <> 'build' or {refreshed_at} is null"],
  ["null where fewer than 7 days are known", "{days_known} < 7"],
  ["null where fewer than 8 days are known", "{days_known} < 8"],
  ["null where fewer than 2 days are known", "{days_known} < 2"],
  ["null where no whole day is known", "{days_known} = 0"],
  ["null in rows about all projects", "{project_id} is null"],
  ["why it failed; null once it has gone well", "{refresh_failed_at} is null"],
  ["null where none of a known project finished", "{projects} = 0"],
  ["else null", "coalesce({looked_at} is not null and {state} <> 'unknown', false)"],
];

test("what may be older than the other answers is just what reads an expensive one", async () => {
  const { sql } = worlds.get("by hand") as TestDatabase;
  const rows = await sql<{ relname: string }[]>`
    with recursive reads as (
      select distinct rewrite.ev_class as reader, depend.refobjid as read from pg_rewrite as rewrite
      join pg_depend as depend on depend.classid = 'pg_rewrite'::regclass and depend.objid = rewrite.oid and depend.refclassid = 'pg_class'::regclass
    ), older as (
      select unnest(${EXPENSIVE_ANSWERS.map(({ table }) => table)}::text[])::regclass::oid as relation
      union select reads.reader from older join reads on reads.read = older.relation
    )
    select relname from older join pg_class on oid = relation where relnamespace = 'report'::regnamespace order by relname`;
  const declared = Object.entries<DeclaredRelation>(DICTIONARY).flatMap(([name, { isExpensive }]) =>
    isExpensive ? [name] : [],
  );
  expect(rows.map(({ relname }) => relname)).toEqual(declared.toSorted());
});

describe.each(RELATIONS)("%s", (name, declared) => {
  const { columns, key, nullable = [], order } = declared;
  let found: [string, Row[]][];
  beforeAll(async () => {
    found = await rowsByWorld(name, declared);
  });

  test("is null just where its sentences say so, and empty nowhere else", () => {
    const faults = Object.entries<string>(columns).flatMap(([column, sentence]) => {
      const rows = found.flatMap(([world, own]) => own.map((row) => ({ world, row, value: row[column] })));
      const values = rows.map(({ value }) => value);
      const isCounted = columns.is_covered?.includes(OF_COUNTS) && values.some(isCount);
      const nulls = rows.filter(
        ({ row, value }) => value === null && !(isCounted && row.is_covered === false),
      );
      const inWorlds = [...new Set(nulls.map(({ world }) => world))].join(", ");
      return [
        nulls.length > 0 && !saysNull(sentence) && `${column} is null in the world ${inWorlds}`,
        nulls.length === 0 && saysNull(sentence) && `${column} is null in no world`,
        !values.some((value) => value !== null) &&
          column !== "replica_lag_s" &&
          `${column} has no value in any world`,
        values.includes("") && !/\bempty\b/.test(sentence) && `${column} is empty in some world`,
      ].flatMap((fault) => (fault ? [`${fault}: ${sentence}`] : []));
    });
    expect(faults, `REPORT_SEED=${SEED}`).toEqual([]);
  });

  test("is null where its sentences say so, row by row, and nowhere else", async () => {
    const faults: string[] = [];
    for (const [column, sentence] of Object.entries<string>(columns))
      for (const [words, condition] of NULL_WHERE) {
        const needed = [...condition.matchAll(/\{(\w+)\}/g)].map(([, needs = ""]) => needs);
        if (!sentence.toLowerCase().includes(words) || !needed.every((one) => one in columns)) continue;
        const isSo = condition.replaceAll(/[{}]/g, "");
        for (const [world, { sql }] of worlds) {
          const [wrong] = await sql.unsafe(
            `select count(*)::int as rows from ${name} where (${column} is null) <> coalesce(${isSo}, false)`,
          );
          if (wrong?.rows !== 0)
            faults.push(`${column} in ${wrong?.rows} rows of the world ${world}: ${sentence}`);
        }
      }
    expect(faults, `REPORT_SEED=${SEED}`).toEqual([]);
  });

  test("has one row for each value of its key, which is null where it is declared so, and an order without ties", async () => {
    const ordered = order.map((term) => term.replace(/ (?:desc|nulls (?:first|last))/g, ""));
    for (const [world, { sql }] of worlds)
      for (const by of [key, ordered]) {
        const [count] = await sql.unsafe(
          `select count(*)::int as all, count(distinct row(${by.join(", ")}))::int as different from ${name}`,
        );
        expect(count?.different, `${by.join(", ")} in the world ${world}; REPORT_SEED=${SEED}`).toBe(
          count?.all,
        );
      }
    const rows = found.flatMap(([, own]) => own);
    expect(key.filter((column) => rows.some((row) => row[column] === null))).toEqual(nullable);
  });
});

/**
 * The package of deploy/dbt computes the reports from the files of two exports, on DuckDB and on a cluster of Spark. Of the second one it computes the
 * months that changed, and every figure is that of schema `report`. The engines are installed from the package index; REPORT_SEED=… makes the same
 * mirror again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { DICTIONARY } from "../../src/report/dictionary.ts";
import { exportReport } from "../../src/report/export/export-report.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createRandom } from "../../src/simulate/random.ts";
import { connect } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { COMPUTED, computedColumnsOf } from "../../tools/dbt-sources.ts";
import { ZONE } from "../report/random-lives.ts";
import { createRandomMirror } from "../report/random-mirror.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { useFolder } from "../support/folder.ts";
import { installPackages, whyNoJava } from "../support/python-packages.ts";
import { clusterConf, clusterEnv, listExecutors } from "../support/spark.ts";

const PROJECT = fileURLToPath(new URL("../../deploy/dbt", import.meta.url));
const CALLS = fileURLToPath(new URL("dbt_calls.py", import.meta.url));
const SEED = Number(process.env.REPORT_SEED ?? randomInt(1_000_000));
const BUILDS = 4000;
const INSTALL_MS = 1_000_000;
const RUN_MS = 900_000;
/**
 * The mean of many rates depends on the order in which they are added: its last digits do. Every other figure is equal to the last bit.
 */
const MEANS = ["success_rate_project_mean"];
const MEANS_WITHIN = 1e-12;

type Cell = string | number | boolean | null;
type Row = Record<string, Cell>;
type Answer = Map<string, Row>;
type Relation = (typeof COMPUTED)[number];

describe("the package of dbt", { tags: ["long"], timeout: RUN_MS }, () => {
  let database: TestDatabase;
  let sql: Sql;
  // With what a path may have in it.
  const made = useFolder("docmirror-it's-dbt-");
  let folder: string;
  let missing: string | null = null;
  let noJava: string | null = null;
  let environment: Record<string, string>;
  let python: string;
  let expected: Map<Relation, Answer>;
  /** Those of the first export, and those that are others in the second. */
  let months: { first: string[]; changed: string[] };
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    const installed = await installPackages();
    if ("missing" in installed) {
      missing = installed.missing;
      return;
    }
    ({ python } = installed);
    noJava = await whyNoJava();
    folder = made.path;
    environment = await clusterEnv(folder, installed.packages, installed.python);
    await writeProfile();
    database = await createTestDatabase();
    sql = connect(database.url, { applicationName: "docmirror test", max: 1 });
    await fill();
    await exportNight("first");
    const before = await readRevisions();
    await change();
    const after = [...(await readRevisions())];
    const changed = after.filter(([month, revision]) => before.get(month) !== revision);
    months = { first: [...before.keys()], changed: changed.map(([month]) => month) };
    // Days that have not come are not shown, so both must answer on one day.
    for (let isOneDay = false; !isOneDay; ) {
      const { exported_on } = await exportNight("second");
      expected = new Map();
      for (const relation of COMPUTED) expected.set(relation, await readStored(relation));
      const [row] = await sql<{ today: string }[]>`select (now() at time zone 'UTC')::date::text as today`;
      isOneDay = row?.today === exported_on;
    }
  }, INSTALL_MS);

  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await sql?.end({ timeout: 5 });
    await database?.dispose();
  });

  /** Whatever can be odd, and some builds of these days. */
  async function fill(): Promise<void> {
    await createRandomMirror(createRandom(SEED)).insert(sql, BUILDS);
    await sql.unsafe(`
      insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
      select 'new-' || n, now() at time zone 'UTC' - n * interval '7 hours', 'finished', n % 3 > 0, 'html', '1', '1', now(), now(), ''
      from generate_series(1, 200) as n`);
    await sql.unsafe(`
      insert into sync.walks (run_id, resource, walk, started_at, finished_at)
      select max(id), 'build', 'whole', now() - interval '20 hours', now() - interval '19 hours' from sync.runs
      on conflict (run_id, resource) do update set walk = 'whole', started_at = excluded.started_at, finished_at = excluded.finished_at`);
    await refreshReport(database.url, { sourceTimezone: ZONE, stuckAfterMs: 7_200_000 });
  }

  /** A build more, a month that loses all of its builds to another one, and other names. */
  async function change(): Promise<void> {
    await sql.unsafe(`
      insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
      values ('newest', now() at time zone 'UTC' - interval '1 hour', 'finished', false, 'html', '1', '1', now(), now(), '');
      update mirror.builds set date = now() at time zone 'UTC' - interval '1 hour', record_hash = '\\x01' where id in (
        select build_id from report.fact_builds where triggered_month = (select min(triggered_month) from report.fact_builds));
      update mirror.projects set slug = 'renamed-' || slug, record_hash = '\\x01'`);
    await refreshReport(database.url, { sourceTimezone: ZONE, stuckAfterMs: 7_200_000 });
  }

  const { signal } = new AbortController();
  const exportNight = (name: string) =>
    exportReport({ sql, folder: join(folder, name), format: "parquet", signal });

  async function readRevisions(): Promise<Map<string, string>> {
    const rows = await sql<{ month: string; revision: string }[]>`
      select coalesce(month, 'undated') as month, revision from report.fact_months order by 1`;
    return new Map(rows.map(({ month, revision }) => [month, revision]));
  }

  async function writeProfile(): Promise<void> {
    const outputs = {
      duckdb: {
        ...{ type: "duckdb", path: join(folder, "lake.duckdb"), schema: "answers", threads: 1 },
        settings: { TimeZone: "UTC" },
      },
      spark: {
        ...{ type: "spark", method: "session", host: "localhost", schema: "answers", threads: 1 },
        server_side_parameters: clusterConf(folder),
      },
    };
    await writeFile(join(folder, "profiles.yml"), stringify({ docmirror: { target: "duckdb", outputs } }));
  }

  /** Runs a program to its end; fails with what it wrote. */
  async function runPython(args: string[]): Promise<void> {
    const quiet = { DBT_SEND_ANONYMOUS_USAGE_STATS: "false", PYTHONDONTWRITEBYTECODE: "1" };
    const env = { ...process.env, ...environment, ...quiet };
    const child = spawn(python, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], env });
    children.add(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-20_000);
      });
    }
    const [code] = await once(child, "close");
    children.delete(child);
    expect(code, `seed ${SEED}: ${output}`).toBe(0);
  }

  /** The tables by month of the first export; one of them of the second, as if killed then; and all of the second. */
  async function computeTwice(target: string, args: string[] = []): Promise<void> {
    const place = join(folder, "export");
    const given = [
      ...["--no-use-colors", "--target", target, "--project-dir", PROJECT, "--profiles-dir", folder],
      ...["--target-path", join(folder, `target-${target}`), "--log-path", join(folder, `logs-${target}`)],
      ...["--vars", JSON.stringify({ export_folder: place })],
    ];
    const call = (night: string, ...command: string[]) => [join(folder, night), [...command, ...given]];
    const calls = [
      call("first", "run", "--select", "project_days", "stretches"),
      call("second", "run", "--select", "project_days"),
      call("second", "build", ...args),
    ];
    await runPython([CALLS, place, JSON.stringify(calls)]);
    const { first, changed } = months;
    expect(JSON.parse(await readFile(`${place}.json`, "utf8"))).toEqual([
      { project_days: first, stretches: first },
      { project_days: changed },
      { project_days: [], stretches: changed },
    ]);
    expect(changed).toHaveLength(2);
    expect(first.length).toBeGreaterThan(2);
  }

  /** As text what is a moment or a day; every number as the nearest double, which it is. */
  function readable(columns: ReadonlyMap<string, string>, epoch: (column: string) => string): string {
    return [...columns]
      .map(([column, type]) => {
        if (type.startsWith("timestamp")) return `cast(${epoch(column)} as varchar) as ${column}`;
        if (type === "date") return `cast(${column} as varchar) as ${column}`;
        if (/^(integer|bigint|double precision|numeric)$/.test(type))
          return `cast(${column} as double precision) as ${column}`;
        return column;
      })
      .join(", ");
  }

  async function typesOf(relation: Relation): Promise<Map<string, string>> {
    const rows = await sql<{ name: string; type: string }[]>`
      select column_name as name, data_type as type from report.data_dictionary where relation = ${relation} order by position`;
    const columns = computedColumnsOf(relation);
    return new Map(rows.filter(({ name }) => columns.includes(name)).map(({ name, type }) => [name, type]));
  }

  function keyed(relation: Relation, rows: readonly Row[]): Answer {
    const { key } = DICTIONARY[relation];
    const answer = new Map(rows.map((row) => [key.map((name) => String(row[name])).join(" "), row]));
    expect(answer.size).toBe(rows.length);
    return answer;
  }

  async function readStored(relation: Relation): Promise<Answer> {
    const epoch = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint`;
    const list = readable(await typesOf(relation), epoch);
    return keyed(relation, await sql.unsafe<Row[]>(`select ${list} from report.${relation}`));
  }

  /** What an engine answered, from its files: `files` gives the place of those of a relation. */
  async function assertEqual(files: (relation: Relation) => string): Promise<void> {
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    try {
      for (const relation of COMPUTED) {
        const list = readable(await typesOf(relation), (column) => `epoch_us(${column})`);
        const place = files(relation).replaceAll("'", "''");
        const reader = await connection.runAndReadAll(`select ${list} from read_parquet('${place}')`);
        const actual = keyed(relation, reader.getRowObjectsJS() as Row[]);
        const wanted = expected.get(relation) ?? new Map();
        expect(reader.columnNames()).toEqual(computedColumnsOf(relation));
        expect(wanted.size).toBeGreaterThan(0);
        const differences = [...wanted].flatMap(([key, row]) => differencesOf(row, actual.get(key), key));
        expect([relation, SEED, ...differences.slice(0, 5)]).toEqual([relation, SEED]);
        expect([relation, actual.size]).toEqual([relation, wanted.size]);
      }
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  }

  function differencesOf(wanted: Row, actual: Row | undefined, key: string) {
    if (actual === undefined) return [`no row ${key}`];
    return Object.entries(wanted).flatMap(([column, value]) => {
      const other = actual[column] ?? null;
      const isMean = MEANS.includes(column) && typeof value === "number" && typeof other === "number";
      const isSame = isMean ? Math.abs(value - other) <= MEANS_WITHIN : value === other;
      return isSame ? [] : [`${key}: ${column} is ${other}, not ${value}`];
    });
  }

  it("computes on DuckDB the months that changed, and answers as schema report does, to the last figure", async (context) => {
    if (missing !== null) return context.skip(missing);
    await computeTwice("duckdb");
    await mkdir(join(folder, "duckdb"));
    const copy = `import duckdb, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("set TimeZone = 'UTC'")
for name in sys.argv[3:]:
  connection.table("answers." + name).write_parquet(sys.argv[2] + "/" + name + ".parquet")`;
    await runPython(["-c", copy, join(folder, "lake.duckdb"), join(folder, "duckdb"), ...COMPUTED]);
    await assertEqual((relation) => join(folder, "duckdb", `${relation}.parquet`));
  });

  it("does so on a cluster of Spark with two workers", { tags: ["exhaustive"] }, async (context) => {
    if (missing !== null) return context.skip(missing);
    if (noJava !== null) return context.skip(noJava);
    // dbt's own tests of columns look at the rows, which are compared below; those of keys are this package's own.
    await computeTwice("spark", ["--exclude", "test_name:not_null", "test_name:unique"]);
    expect(await listExecutors(folder)).toEqual(expect.arrayContaining(["0", "1"]));
    await assertEqual((relation) => join(folder, "warehouse", "answers.db", relation, "*.parquet"));
  });
});

/**
 * The package of deploy/dbt computes the reports from the files of two exports, on DuckDB and on a cluster of Spark. Of the second one it computes the
 * months that changed, and every figure is that of schema `report`. The engines are installed from the package index; REPORT_SEED=… makes the same
 * mirror again. On Postgres, dbt itself runs it, with its sample profile and the role that the README makes.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { DICTIONARY } from "../../src/report/dictionary.ts";
import { exportReport } from "../../src/report/export/export-report.ts";
import { grantReader, planReaderGrant } from "../../src/report/grant-reader.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createRandom } from "../../src/simulate/random.ts";
import { connect } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { COMPUTED, computedColumnsOf } from "../../tools/dbt-sources.ts";
import { ZONE } from "../report/random-lives.ts";
import { createRandomMirror } from "../report/random-mirror.ts";
import { createTestDatabase, type TestDatabase, withTestSql } from "../support/database.ts";
import { useFolder } from "../support/folder.ts";
import { installPackages, WITH_SPARK, whyNoJava } from "../support/python-packages.ts";
import { openReportReader, type ReportReader } from "../support/report-reader.ts";
import { clusterConf, clusterEnv, listExecutors } from "../support/spark.ts";

const PROJECT = fileURLToPath(new URL("../../deploy/dbt", import.meta.url));
const CALLS = fileURLToPath(new URL("dbt_calls.py", import.meta.url));
const SEED = Number(process.env.REPORT_SEED ?? randomInt(1_000_000));
const BUILDS = 1500;
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

// It installs two engines. `dbt.test.ts` holds the package against the dictionary, and below it runs on Postgres.
describe("the package of dbt", { tags: ["long", "exhaustive"], timeout: RUN_MS }, () => {
  let database: TestDatabase;
  let sql: Sql;
  // With what a path may have in it.
  const made = useFolder("docmirror-it's-dbt-");
  let folder: string;
  let missing: string | null = null;
  let environment: Record<string, string> = {};
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
    folder = made.path;
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
    await refreshReport(database.sql, { sourceTimezone: ZONE, stuckAfterMs: 7_200_000 });
  }

  /** A build more, a month that loses all of its builds to another one, and other names. */
  async function change(): Promise<void> {
    await sql.unsafe(`
      insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
      values ('newest', now() at time zone 'UTC' - interval '1 hour', 'finished', false, 'html', '1', '1', now(), now(), '');
      update mirror.builds set date = now() at time zone 'UTC' - interval '1 hour', record_hash = '\\x01' where id in (
        select build_id from report.fact_builds where triggered_month = (select min(triggered_month) from report.fact_builds));
      update mirror.projects set slug = 'renamed-' || slug, record_hash = '\\x01'`);
    await refreshReport(database.sql, { sourceTimezone: ZONE, stuckAfterMs: 7_200_000 });
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
        type: "duckdb",
        path: join(folder, "lake.duckdb"),
        schema: "answers",
        threads: 1,
        settings: { TimeZone: "UTC" },
      },
      spark: {
        type: "spark",
        method: "session",
        host: "localhost",
        schema: "answers",
        threads: 1,
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

  it("does so on a cluster of Spark with two workers", async (context) => {
    if (missing !== null) return context.skip(missing);
    const spark = await installPackages(WITH_SPARK);
    const reason = "missing" in spark ? spark.missing : await whyNoJava();
    if ("missing" in spark || reason !== null) return context.skip(reason ?? "");
    ({ python } = spark);
    environment = await clusterEnv(folder, spark.packages, spark.python);
    // dbt's own tests of columns look at the rows, which are compared below; those of keys are this package's own.
    await computeTwice("spark", ["--exclude", "test_name:not_null", "test_name:unique"]);
    expect(await listExecutors(folder)).toEqual(expect.arrayContaining(["0", "1"]));
    await assertEqual((relation) => join(folder, "warehouse", "answers.db", relation, "*.parquet"));
  });
});

const README = new URL("../../deploy/README.md", import.meta.url);

type Result = Record<"unique_id" | "status", string>;

describe("the package of dbt on Postgres", { tags: ["long"], timeout: RUN_MS }, () => {
  const role = `docmirror_test_dbt_${randomBytes(4).toString("hex")}`;
  const password = randomBytes(8).toString("hex");
  let missing: string | null = null;
  let reader: ReportReader;
  let owner: Sql;
  const folder = useFolder("docmirror-dbt-");
  let bin: string;

  beforeAll(async () => {
    const installed = await installPackages();
    if ("missing" in installed) {
      missing = installed.missing;
      return;
    }
    ({ bin } = installed);
    reader = await openReportReader();
    owner = connect(reader.databaseUrl, { applicationName: "docmirror test", max: 1 });
    const sample = /```sql\n(create role dbt [\s\S]*?)```/;
    const [, statements = ""] = sample.exec(readFileSync(README, "utf8")) ?? [];
    expect(statements).toContain("create schema dbt");
    await owner.unsafe(statements.replace(/\b(role|authorization) dbt\b/g, `$1 ${role}`));
    await owner.unsafe(`alter role ${role} password '${password}'`);
    await grantReader(owner, await planReaderGrant(owner, role));
  }, INSTALL_MS);

  beforeEach(({ skip }) => skip(missing !== null, missing ?? ""));

  afterAll(async () => {
    if (missing !== null) return;
    await owner?.unsafe(`drop owned by ${role} cascade; drop role ${role}`);
    await owner?.end({ timeout: 5 });
    await reader?.[Symbol.asyncDispose]();
  });

  /** Runs dbt to its end, and gives its exit code and what it wrote. */
  async function dbt(args: readonly string[]): Promise<{ code: number; output: string }> {
    const { hostname, port, pathname } = new URL(reader.databaseUrl);
    const given = [...["--no-use-colors", "--project-dir", PROJECT, "--profiles-dir", PROJECT]];
    const env = {
      ...process.env,
      READER_HOST: hostname,
      READER_PORT: port,
      READER_DATABASE: pathname.slice(1),
      READER_NAME: role,
      DBT_ENV_SECRET_READER_PASSWORD: password,
      READER_SSLMODE: "prefer",
      DBT_TARGET_PATH: folder.at("target"),
      DBT_LOG_PATH: folder.at("logs"),
      DBT_SEND_ANONYMOUS_USAGE_STATS: "false",
      PYTHONDONTWRITEBYTECODE: "1",
    };
    const options = { cwd: folder.path, env, timeout: RUN_MS };
    return promisify(execFile)(join(bin, "dbt"), [...args, ...given], options).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
    );
  }

  async function resultsOf(file: string): Promise<Result[]> {
    return JSON.parse(await readFile(folder.at("target", file), "utf8")).results;
  }

  it("warns of nothing that a later version refuses", async () => {
    const parsed = await dbt(["parse", "--show-all-deprecations"]);
    expect(parsed).toEqual({ code: 0, output: expect.not.stringMatching(/deprecat/i) });
  });

  it("builds: the model is made, and every promise of sources.yml holds", async () => {
    const { code, output } = await dbt(["build"]);
    expect(code, output).toBe(0);
    const results = await resultsOf("run_results.json");
    expect(results.filter(({ status }) => !/^(success|pass|no-op)$/.test(status))).toEqual([]);
    const ids = results.map(({ unique_id: id }) => id).join("\n");
    for (const name of "project_trend not_null unique one_row_per_key in_dim_projects in_runs".split(" "))
      expect(ids).toContain(name);
    const [row] = await owner`select count(*)::int as projects from dbt.project_trend`;
    expect(row?.projects).toBeGreaterThan(10);
  });

  it("finds a key that stands twice, and a reference to nothing", async () => {
    // A view that a stranger changed.
    await withTestSql(reader.databaseUrl, (sql) =>
      sql.unsafe(`
      alter view report.success_rate_daily_by_project rename to activity_before;
      create view report.success_rate_daily_by_project as
        select * from report.activity_before
        union all (select * from report.activity_before limit 1)
        union all
        select (jsonb_populate_record(null::report.activity_before, to_jsonb(one) || '{"project_id": "nobody"}')).*
        from (select * from report.activity_before limit 1) as one;
      grant select on report.success_rate_daily_by_project to ${role}`),
    );
    try {
      const { code } = await dbt(["test", "--select", "source:docmirror.success_rate_daily_by_project"]);
      expect(code).toBe(1);
      const failed = (await resultsOf("run_results.json")).filter(({ status }) => status === "fail");
      expect(failed.map(({ unique_id: id }) => id.split(".")[2]).toSorted()).toEqual([
        "source_in_dim_projects_docmirror_success_rate_daily_by_project_project_id",
        "source_one_row_per_key_docmirror_success_rate_daily_by_project_",
      ]);
    } finally {
      await owner.unsafe(`drop view report.success_rate_daily_by_project;
        alter view report.activity_before rename to success_rate_daily_by_project`);
    }
  });
});

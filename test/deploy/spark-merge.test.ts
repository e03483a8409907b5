/**
 * deploy/spark/merge.py brings five nights into Iceberg tables on a real Spark, with a kill in the middle. Spark comes from the package index, the
 * runtime of Iceberg from the place that Spark asks for packages.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ExportFacts, exportReport } from "../../src/report/export/export-report.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { connect } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import type { TestDatabase } from "../support/database.ts";
import { useFolder } from "../support/folder.ts";
import { installPackages, WITH_SPARK, whyNoJava } from "../support/python-packages.ts";
import { createReportedMirror, REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { SHORT_LIVED_JAVA, SMALL_SPARK } from "../support/spark.ts";

const MERGE = fileURLToPath(new URL("../../deploy/spark/merge.py", import.meta.url));
const MERGED_NIGHTS = fileURLToPath(new URL("merged_nights.py", import.meta.url));
const NAMESPACE = "lake.docmirror";

/** In their order, as Postgres writes them: without zeros at the end. */
const TIMES = [":00Z", ":00.2Z", ":00.21Z", ":00.3Z", ":01Z"].map((end) => `2026-11-20T02:20${end}`);

type Month = Record<"month" | "builds" | "finished" | "succeeded" | "project", unknown>;
interface Answer {
  snapshots: { exported_at: string; run_id: string; files: number; months: Month[] }[];
  differences: Record<string, number>;
  columns: string[];
}

// Half a gigabyte of Spark, a package of Iceberg and a JVM, which takes minutes to start its sessions on a small machine.
describe("merge.py", { tags: ["long", "exhaustive"] }, () => {
  let database: TestDatabase;
  let sql: Sql;
  const made = useFolder("docmirror-lake-");
  let folder: string;
  let python: string;
  let packages: string;
  let missing: string | null;
  const nights: { facts: ExportFacts; months: Month[] }[] = [];

  beforeAll(async () => {
    const installed = await installPackages(WITH_SPARK);
    missing = "missing" in installed ? installed.missing : await whyNoJava();
    if ("missing" in installed || missing !== null) return;
    ({ python, packages } = installed);
    folder = made.path;
    await writeFile(join(folder, "spark-defaults.conf"), confOf(folder));
    database = await createReportedMirror();
    sql = connect(database.url, { applicationName: "docmirror test", max: 1 });
  }, 1_000_000);

  afterAll(async () => {
    await sql?.end({ timeout: 5 });
    await database?.dispose();
  });

  /** An incremental export of a night, and what Postgres answers then. */
  async function exportNight(...changes: string[]): Promise<void> {
    for (const change of changes) await sql.unsafe(change);
    await refreshReport(database.sql, REPORT_SETTINGS);
    const out = join(folder, String(nights.length + 1));
    if (nights.length > 0) await cp(join(folder, String(nights.length)), out, { recursive: true });
    const { signal } = new AbortController();
    const made = await exportReport({ sql, folder: out, format: "parquet", incremental: true, signal });
    const facts = { ...made, exported_at: TIMES[nights.length] ?? "" };
    await writeFile(join(out, "_docmirror.json"), JSON.stringify(facts));
    const months = await sql<Month[]>`
      select coalesce(triggered_month, 'undated') as month, count(*)::int as builds, count(succeeded)::int as finished,
        sum(succeeded)::int as succeeded, max(project_id collate "C") as project
      from report.fact_builds group by 1 order by 1`;
    nights.push({ facts, months: [...months] });
  }

  function start(args: string[]) {
    const env = {
      ...process.env,
      ...SHORT_LIVED_JAVA,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONWARNINGS: "ignore",
      PYSPARK_PYTHON: python,
      SPARK_HOME: join(packages, "pyspark"),
      SPARK_LOCAL_IP: "127.0.0.1",
      SPARK_CONF_DIR: folder,
    };
    return spawn(python, ["-u", ...args], { detached: true, stdio: ["ignore", "pipe", "pipe"], env });
  }

  async function run(args: string[]): Promise<{ code: number; out: string; errors: string }> {
    const child = start(args);
    let [out, errors] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-20_000)));
    const [code] = await once(child, "close");
    return { code, out, errors };
  }

  async function mergeNights(...which: number[]): Promise<Answer> {
    const merge = fileURLToPath(new URL("../../deploy/spark", import.meta.url));
    const { code, out, errors } = await run([MERGED_NIGHTS, merge, folder, NAMESPACE, ...which.map(String)]);
    expect(code, `${out}${errors}`).toBe(0);
    return JSON.parse(/^ANSWER (.*)$/m.exec(out)?.[1] ?? "null");
  }

  it("brings five nights into tables, with a kill in between, and can show each of them", async (context) => {
    if (missing !== null) return context.skip(missing);
    const build = (id: string, date: string) =>
      `insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
       values ('${id}', '${date}', 'finished', true, 'html', '1', '1latest', now(), now(), '')`;
    await exportNight();
    await exportNight(build("300", "2025-08-15"));
    await exportNight(
      "update mirror.builds set deleted_at = now(), record_hash = '\\x01' where date < '2025-07-01'",
      "update mirror.builds set date = '2025-08-02', record_hash = '\\x02' where date is null",
    );
    await exportNight(build("301", "2025-09-01"), "update mirror.projects set name = 'Zed' where id = '3'");
    await exportNight(build("302", "2025-09-02"));
    await addColumn(join(folder, "5"));

    await mergeNights(1, 2);
    const killed = start([MERGE, join(folder, "3"), NAMESPACE]);
    killed.stdout.setEncoding("utf8");
    for await (const text of killed.stdout) if (String(text).includes("dim_versions: 1 of 1")) break;
    process.kill(-(killed.pid ?? 0), "SIGKILL");
    const answer = await mergeNights(3, 3, 4, 5, 5);

    expect(answer.snapshots).toMatchObject(
      nights.map(({ facts, months }) => ({ exported_at: facts.exported_at, run_id: "1", months })),
    );
    // All; one; the month of what was deleted and the one where a build moved; that of a build, none for a name; all for the column.
    expect(answer.snapshots.map(({ files }) => files)).toEqual([4, 1, 2, 1, 4]);
    const none = { fact_builds: 0, dim_projects: 0, dim_versions: 0, dim_dates: 0, fact_months: 0, as_of: 0 };
    expect(answer.differences).toEqual(none);
    expect(answer.columns).toContain("pages");

    const absent = await run([MERGE, join(folder, "6"), NAMESPACE]);
    expect(absent.code).toBe(2);
    expect(absent.errors).toMatch(/merge\.py: .*6\/_docmirror\.json is not there: name the folder of/);
    const older = await run([MERGE, join(folder, "4"), NAMESPACE]);
    expect(older.code).toBe(2);
    expect(older.errors).toContain("has an export of");
  }, 900_000);

  /** What a later docmirror may do: each row of the facts has one more value. */
  async function addColumn(out: string): Promise<void> {
    const duckdb = await DuckDBInstance.create();
    const connection = await duckdb.connect();
    const manifest = join(out, "_docmirror.json");
    const facts: ExportFacts = JSON.parse(await readFile(manifest, "utf8"));
    for (const { path } of facts.relations.fact_builds?.files ?? []) {
      const quoted = (file: string) => `'${file.replaceAll("'", "''")}'`;
      const file = join(out, path);
      const rows = `select *, 7::integer as pages from read_parquet(${quoted(file)}, hive_partitioning = false)`;
      await connection.run(`copy (${rows}) to ${quoted(`${file}.new`)} (format parquet)`);
      await rename(`${file}.new`, file);
    }
    await writeFile(manifest, JSON.stringify({ ...facts, definition: "with a column more" }));
    connection.closeSync();
    duckdb.closeSync();
  }
});

const confOf = (folder: string): string =>
  Object.entries({
    ...SMALL_SPARK,
    "spark.master": "local[2]",
    "spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.warehouse": join(folder, "lake"),
  })
    .map(([name, value]) => `${name} ${value}\n`)
    .join("");

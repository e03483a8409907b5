import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { columnsOf, type Relation } from "../../src/report/dictionary.ts";
import { exportReport } from "../../src/report/export/export-report.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { connect, withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { runCli } from "../support/cli.ts";
import type { TestDatabase } from "../support/database.ts";
import { createReportedMirror, REPORT_SETTINGS } from "../support/reported-mirror.ts";

let database: TestDatabase;
let sql: Sql;
let parent: string;
let folder: string;

beforeAll(async () => {
  // With all that a path may have in it that a reader could take for more.
  parent = await mkdtemp(join(tmpdir(), "docmirror-export-it's [a]*{b}-"));
  folder = join(parent, "out");
  database = await createReportedMirror({ refreshed: false });
  sql = connect(database.url, { applicationName: "docmirror test", max: 1 });
  // Longer than DuckDB would read by itself.
  await sql`
    insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
    values ('5', 'long', repeat('ü', 1500000), 'list', true, now(), now(), '')`;
  await refreshReport(database.url, REPORT_SETTINGS);
});
afterAll(async () => {
  await sql.end({ timeout: 5 });
  await database.dispose();
  await rm(parent, { recursive: true, force: true });
});

const exportTo = (out: string, args: string[] = [], env: Record<string, string> = {}) =>
  runCli(["export", "--out", out, ...args], {
    env: { DATABASE_URL: database.url, ...env },
  });

/** What DuckDB answers, times as Postgres writes them. */
async function duckDb(text: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    await connection.run("set TimeZone = 'UTC'");
    return (await connection.runAndReadAll(text)).getRowsJson() as unknown[][];
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const quoted = (path: string) => `'${path.replaceAll("'", "''")}'`;

/** The builds of an export, as a reader that knows nothing but the folders' names sees them. */
const builds = (out: string, ending: "parquet" | "csv" = "parquet") =>
  ending === "parquet"
    ? `read_parquet(${quoted(`${out.replace(/[[*]/g, "[$&]")}/fact_builds/*/*.parquet`)}, hive_partitioning = true, hive_types_autocast = false)`
    : `read_csv(${quoted(`${out.replace(/[[*]/g, "[$&]")}/fact_builds/*/*.csv`)}, hive_partitioning = true, all_varchar = true, hive_types_autocast = false)`;

const dimension = (name: string) => `read_parquet(${quoted(join(folder, `${name}/part-0.parquet`))})`;

async function stored(relation: Relation, columns: readonly string[], key: string): Promise<unknown[][]> {
  const rows = await sql
    .unsafe(`select ${columns.join(", ")} from report.${relation} order by ${key} collate "C"`)
    .values();
  return [...rows];
}

const tree = async (out: string) => (await readdir(out, { recursive: true })).toSorted();

describe("export", () => {
  it("writes Parquet that is read back row for row, a folder a month, with types that say what they are", {
    tags: ["long"],
  }, async () => {
    const { code, stdout, stderr } = await exportTo(folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^fact_builds +204 +4 +4$/m);
    expect(await tree(folder)).toEqual([
      "_docmirror.json",
      "as_of",
      "as_of/part-0.parquet",
      "dim_dates",
      "dim_dates/part-0.parquet",
      "dim_projects",
      "dim_projects/part-0.parquet",
      "dim_versions",
      "dim_versions/part-0.parquet",
      "fact_builds",
      ...["2025-06", "2025-07", "2025-08", "undated"].flatMap((month) => [
        `fact_builds/triggered_month=${month}`,
        `fact_builds/triggered_month=${month}/part-0.parquet`,
      ]),
      "fact_months",
      "fact_months/part-0.parquet",
    ]);
    // As docs/scale.md says to add the names; the moment of the last change is that of the fact alone.
    const columns = columnsOf("fact_builds").filter((column) => !["updated_at", "is_main"].includes(column));
    const read = await duckDb(`
      select ${columns.join(", ").replace("triggered_month", "nullif(triggered_month, 'undated')").replace("fact_updated_at", "updated_at")}
      from ${builds(folder)} as build
      left join (select project_id, project_slug, project_name from ${dimension("dim_projects")}) using (project_id)
      left join (select version_id, version_slug, version_name from ${dimension("dim_versions")}) using (version_id)
      order by build_id`);
    expect(read).toEqual(await stored("fact_builds", columns, "build_id"));
    expect(
      await duckDb(
        `select nullif(month, 'undated'), revision from ${dimension("fact_months")} order by month`,
      ),
    ).toEqual(await stored("fact_months", columnsOf("fact_months"), "month"));
    for (const [relation, key] of [
      ["dim_projects", "project_id"],
      ["dim_versions", "version_id"],
    ] as const) {
      const rows = await duckDb(
        `select ${columnsOf(relation).join(", ")} from ${dimension(relation)} order by ${key}`,
      );
      expect(rows).toEqual(await stored(relation, columnsOf(relation), key));
    }
    const schema = await duckDb(`
      select name, type, coalesce(logical_type, converted_type) from parquet_schema(
        ${quoted(join(folder, "fact_builds/triggered_month=2025-06/part-0.parquet"))})`);
    const types = new Map(schema.map(([name, ...type]) => [name, type.join(" ")]));
    expect(types.get("triggered_at")).toMatch(/^INT64 TimestampType\(isAdjustedToUTC=1, .*MICROS=Micro/);
    expect(types.get("triggered_on")).toBe("INT32 DATE");
    expect(types.get("succeeded")).toBe("INT32 INT_32");
    expect(types.get("duration_s_min")).toMatch(/^DOUBLE/);
    expect(types.get("is_time_ambiguous")).toMatch(/^BOOLEAN/);
    expect(types.get("project_id")).toBe("BYTE_ARRAY UTF8");
    expect(types.has("triggered_month")).toBe(false);
  });

  it("says in _docmirror.json as of which run it is, and what is in it", { tags: ["long"] }, async () => {
    const out = join(parent, "told");
    const { stdout } = await exportTo(out, ["--format", "csv", "--since", "2025-08-01", "--json"]);
    const facts = JSON.parse(await readFile(join(out, "_docmirror.json"), "utf8"));
    expect(JSON.parse(stdout)).toEqual({ folder: out, ...facts });
    expect(facts).toMatchObject({
      made_by: "docmirror export",
      format: "csv",
      run_id: 1,
      current_through: "2025-08-15T02:17:00Z",
      exported_at: expect.stringMatching(/^20\S+Z$/),
      since: "2025-08-01",
      relations: {
        fact_builds: {
          rows: 21,
          files: [{ path: "fact_builds/triggered_month=2025-08/part-0.csv", rows: 21 }],
        },
        dim_projects: { rows: 6, kept: 0, files: [{ path: "dim_projects/part-0.csv", rows: 6 }] },
      },
    });
    const names = facts.relations.fact_builds.columns.map(({ name }: { name: string }) => name);
    const named = ["project_name", "project_slug", "version_name", "version_slug"];
    const other = ["fact_updated_at", "is_main", "triggered_month"];
    expect([...names, ...named, ...other].toSorted()).toEqual(columnsOf("fact_builds").toSorted());
  });

  it("writes CSV that is exact, formulas too, and replaces an export of another form whole", async () => {
    const out = join(parent, "again");
    const { signal } = new AbortController();
    await exportReport({ sql, folder: out, format: "parquet", signal });
    await exportReport({ sql, folder: out, format: "csv", until: "2025-06-30", signal });
    expect(await tree(out)).toEqual([
      "_docmirror.json",
      "as_of",
      "as_of/part-0.csv",
      "dim_dates",
      "dim_dates/part-0.csv",
      "dim_projects",
      "dim_projects/part-0.csv",
      "dim_versions",
      "dim_versions/part-0.csv",
      "fact_builds",
      "fact_builds/triggered_month=2025-06",
      "fact_builds/triggered_month=2025-06/part-0.csv",
      "fact_months",
      "fact_months/part-0.csv",
    ]);
    expect(await readFile(join(out, "dim_projects/part-0.csv"), "utf8")).toContain(
      '\r\n3,"=cmd|""/C calc""!A0",Project 3,',
    );
    const read = await duckDb(
      `select count(*), count(distinct project_id), min(triggered_at) from ${builds(out, "csv")}`,
    );
    expect(read).toEqual([["89", "4", "2025-06-01T09:00:00.001001Z"]]);
    // The other months have builds that this export leaves out, so no month has a revision that a later export may have.
    const revisions = await readFile(join(out, "fact_months/part-0.csv"), "utf8");
    expect(revisions.split("\r\n")).toEqual([
      "month,revision",
      "2025-08,",
      "2025-07,",
      "2025-06,",
      "undated,",
      "",
    ]);
  });

  it("leaves nothing behind but the old one when it is stopped", async () => {
    const out = join(parent, "stopped");
    const stop = new AbortController();
    await exportReport({ sql, folder: out, format: "csv", signal: stop.signal });
    const before = await tree(parent);
    await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (holder) => {
      await holder.begin(async (tx) => {
        await tx`lock table rollup.builds in access exclusive mode`;
        const exporting = exportReport({ sql, folder: out, format: "parquet", signal: stop.signal });
        const outcome = exporting.catch((error: unknown) => error);
        while (
          (await tx`select from pg_locks where not granted and relation = 'rollup.builds'::regclass`)
            .length === 0
        )
          await nextTurn();
        expect((await readdir(parent)).filter((name) => name.startsWith(".stopped.partial-"))).toHaveLength(
          1,
        );
        stop.abort(new Error("stop it"));
        expect(await outcome).toBe(stop.signal.reason);
      });
    });
    expect(await tree(parent)).toEqual(before);
  });

  it.for(["csv", "parquet"])(
    "of %s onto a full disk leaves the old one, exit code 2",
    {
      tags: ["long"],
    },
    async (format, context) => {
      const disk = join(parent, `disk-${format}`);
      await mkdir(disk);
      // The long slug alone takes 3 MB.
      if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).status !== 0)
        context.skip("a small disk cannot be mounted here");
      try {
        const out = join(disk, "out");
        await mkdir(out);
        await writeFile(join(out, "_docmirror.json"), "{}");
        expect(await exportTo(out, ["--format", format])).toMatchObject({
          code: 2,
          stdout: "",
          stderr: expect.stringContaining(`could not write to ${out}: the disk is full (ENOSPC)`),
        });
        expect(await tree(disk)).toEqual(["out", "out/_docmirror.json"]);
      } finally {
        spawnSync("umount", [disk]);
      }
    },
  );

  it.each([
    ["/proc/x", "its folder is not there, or takes no files"],
    ["/dev/null", "a file is in the way"],
    ["/dev/null", "a file is in the way", "--logs"],
    ["/", "was not made by an export of logs", "--logs"],
    ["/proc/x", "cannot be used with", "--logs", "--incremental"],
  ])("to %s says in one sentence that it cannot, exit code 2", async (out, says, ...args) => {
    expect(await exportTo(out, args)).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });
  });

  it("without DuckDB says how to install it, exit 2; CSV needs none", { tags: ["long"] }, async () => {
    const hooks = `export const resolve = (name, context, next) => {
      if (name.startsWith("@duckdb/")) throw new Error("not here");
      return next(name, context);
    }`;
    const register = `import { register } from "node:module"; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)})`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(register)}` };
    const out = join(parent, "without");
    const parquet = await exportTo(out, [], env);
    expect(parquet).toMatchObject({ code: 2, stdout: "" });
    expect(parquet.stderr).toContain("DuckDB, which cannot be loaded: not here");
    expect(parquet.stderr).toMatch(/`npm install .*@duckdb\/node-api@\d/);
    expect(await exportTo(out, ["--format", "csv"], env)).toMatchObject({ code: 0 });
  });
});

import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { beforeAll, describe, expect, it } from "vitest";
import { columnsOf, type Relation } from "../../src/report/dictionary.ts";
import { exportReport } from "../../src/report/export/export-report.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { runCli } from "../support/cli.ts";
import { withTestSql } from "../support/database.ts";
import { useFolder } from "../support/folder.ts";
import { createReportedMirror, REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { useDatabase } from "../support/use-database.ts";

// With all that a path may have in it that a reader could take for more.
const parent = useFolder("docmirror-export-it's [a]*{b}-");
const database = useDatabase(() => createReportedMirror({ refreshed: false }));
const { sql } = database;
let folder: string;

beforeAll(async () => {
  folder = parent.at("out");
  // Longer than DuckDB would read by itself.
  await sql`
    insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
    values ('5', 'long', repeat('ü', 1500000), 'list', true, now(), now(), '')`;
  await refreshReport(database.sql, REPORT_SETTINGS);
});

const exportTo = (out: string, args: string[] = [], env: Record<string, string> = {}) =>
  runCli(["export", "--out", out, ...args], { env: { DATABASE_URL: database.url, ...env } });

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

function builds(out: string, ending: "parquet" | "csv" = "parquet"): string {
  const files = quoted(`${out.replace(/[[*]/g, "[$&]")}/fact_builds/*/*.${ending}`);
  const asText = ending === "csv" ? ", all_varchar = true" : "";
  return `read_${ending}(${files}, hive_partitioning = true${asText}, hive_types_autocast = false)`;
}

const dimension = (name: string) => `read_parquet(${quoted(join(folder, `${name}/part-0.parquet`))})`;

async function stored(relation: Relation, columns: readonly string[], key: string): Promise<unknown[][]> {
  const text = `select ${columns.join(", ")} from report.${relation} order by ${key} collate "C"`;
  return [...(await sql.unsafe(text).values())];
}

const tree = async (out: string) => (await readdir(out, { recursive: true })).toSorted();

const exported = (ending: string, months: readonly string[]) => [
  "_docmirror.json",
  ...["as_of", "dim_dates", "dim_projects", "dim_versions"].flatMap((name) => [
    name,
    `${name}/part-0.${ending}`,
  ]),
  "fact_builds",
  ...months
    .map((month) => `fact_builds/triggered_month=${month}`)
    .flatMap((name) => [name, `${name}/part-0.${ending}`]),
  ...["fact_months", `fact_months/part-0.${ending}`],
];

describe("export", () => {
  it("writes Parquet that reads back row for row, by month, with its types", { tags: ["long"] }, async () => {
    const { code, stdout, stderr } = await exportTo(folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^fact_builds +204 +4 +4$/m);
    const months = ["2025-06", "2025-07", "2025-08", "undated"];
    expect(await tree(folder)).toEqual(exported("parquet", months));
    // As docs/scale.md says to add the names; the moment of the last change is that of the fact alone.
    const columns = columnsOf("fact_builds").filter((column) => !["updated_at", "is_main"].includes(column));
    const read = await duckDb(`
      select ${columns.join(", ").replace("triggered_month", "nullif(triggered_month, 'undated')").replace("fact_updated_at", "updated_at")}
      from ${builds(folder)} as build
      left join (select project_id, project_slug, project_name from ${dimension("dim_projects")}) using (project_id)
      left join (select version_id, version_slug, version_name from ${dimension("dim_versions")}) using (version_id)
      order by build_id`);
    expect(read).toEqual(await stored("fact_builds", columns, "build_id"));
    for (const [relation, key] of [
      ["fact_months", "month"],
      ["dim_projects", "project_id"],
      ["dim_versions", "version_id"],
    ] as const) {
      const names = columnsOf(relation).join(", ").replace("month", "nullif(month, 'undated')");
      const rows = await duckDb(`select ${names} from ${dimension(relation)} order by ${key}`);
      expect(rows, relation).toEqual(await stored(relation, columnsOf(relation), key));
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
    const out = parent.at("told");
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

  it("writes CSV that is exact, formulas too, and replaces an export of another form whole", {
    tags: ["long"],
  }, async () => {
    const out = parent.at("again");
    const { signal } = new AbortController();
    await exportReport({ sql, folder: out, format: "parquet", signal });
    await exportReport({ sql, folder: out, format: "csv", until: "2025-06-30", signal });
    expect(await tree(out)).toEqual(exported("csv", ["2025-06"]));
    const projects = await readFile(join(out, "dim_projects/part-0.csv"), "utf8");
    expect(projects).toContain('\r\n3,"=cmd|""/C calc""!A0",Project 3,');
    const counts = "select count(*), count(distinct project_id), min(triggered_at)";
    const read = await duckDb(`${counts} from ${builds(out, "csv")}`);
    expect(read).toEqual([["89", "4", "2025-06-01T09:00:00.001001Z"]]);
    // The other months have builds that this export leaves out, so no month has a revision that a later export may have.
    const revisions = await readFile(join(out, "fact_months/part-0.csv"), "utf8");
    expect(revisions).toBe("month,revision\r\n2025-08,\r\n2025-07,\r\n2025-06,\r\nundated,\r\n");
  });

  it("leaves nothing behind but the old one when it is stopped", async () => {
    const out = parent.at("stopped");
    const stop = new AbortController();
    await exportReport({ sql, folder: out, format: "csv", signal: stop.signal });
    const before = await tree(parent.path);
    // A connection beside that of the export.
    await withTestSql(database.url, (holder) =>
      holder.begin(async (tx) => {
        await tx`lock table rollup.builds in access exclusive mode`;
        const exporting = exportReport({ sql, folder: out, format: "parquet", signal: stop.signal });
        const outcome = exporting.catch((error: unknown) => error);
        const waits = () =>
          tx`select from pg_locks where not granted and relation = 'rollup.builds'::regclass`;
        await expect.poll(async () => (await waits()).length).toBe(1);
        const drafts = (await readdir(parent.path)).filter((name) => name.startsWith(".stopped.partial-"));
        expect(drafts).toHaveLength(1);
        stop.abort(new Error("stop it"));
        expect(await outcome).toBe(stop.signal.reason);
      }),
    );
    expect(await tree(parent.path)).toEqual(before);
  });

  it.for(["csv", "parquet"])(
    "of %s onto a full disk leaves the old one, exit code 2",
    { tags: ["long"] },
    async (format, context) => {
      const disk = parent.at(`disk-${format}`);
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
    const out = parent.at("without");
    const parquet = await exportTo(out, [], env);
    expect(parquet).toMatchObject({ code: 2, stdout: "" });
    expect(parquet.stderr).toContain("DuckDB, which cannot be loaded: not here");
    expect(parquet.stderr).toMatch(/`npm install .*@duckdb\/node-api@\d/);
    expect(await exportTo(out, ["--format", "csv"], env)).toMatchObject({ code: 0 });
  });
});

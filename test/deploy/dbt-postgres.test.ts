/** dbt itself runs the package of deploy/dbt on Postgres, with its sample profile and the role that the README makes. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RELATIONS } from "../../src/report/dictionary.ts";
import { grantReader, planReaderGrant } from "../../src/report/grant-reader.ts";
import { connect } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { withTestSql } from "../support/database.ts";
import { useFolder } from "../support/folder.ts";
import { installPackages } from "../support/python-packages.ts";
import { openReportReader, type ReportReader } from "../support/report-reader.ts";

const PROJECT = fileURLToPath(new URL("../../deploy/dbt", import.meta.url));
const README = new URL("../../deploy/README.md", import.meta.url);
const INSTALL_MS = 1_000_000;
const RUN_MS = 900_000;

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
  async function dbt(args: readonly string[], project = PROJECT): Promise<{ code: number; output: string }> {
    const { hostname, port, pathname } = new URL(reader.databaseUrl);
    const given = [...["--no-use-colors", "--project-dir", project, "--profiles-dir", PROJECT]];
    const env = {
      ...process.env,
      ...{ READER_HOST: hostname, READER_PORT: port, READER_DATABASE: pathname.slice(1), READER_NAME: role },
      ...{ DBT_ENV_SECRET_READER_PASSWORD: password, READER_SSLMODE: "prefer" },
      ...{ DBT_TARGET_PATH: folder.at("target"), DBT_LOG_PATH: folder.at("logs") },
      ...{ DBT_SEND_ANONYMOUS_USAGE_STATS: "false", PYTHONDONTWRITEBYTECODE: "1" },
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

  it("connects with the sample profile, and warns of nothing that a later version refuses", async () => {
    const { code, output } = await dbt(["debug"]);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("All checks passed!") });
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

  it("reads how fresh the sources are", async () => {
    const { code, output } = await dbt(["source", "freshness"]);
    expect(code, output).toBe(0);
    const results = await resultsOf("sources.json");
    const told = results.map(({ unique_id: id, status }) => `${id.split(".").at(-1)} ${status}`);
    expect(told.toSorted()).toEqual(["dim_projects pass", "dim_versions pass", "fact_builds pass"]);
  });

  it("makes its pages, with every relation, its columns and their descriptions", async () => {
    const { code, output } = await dbt(["docs", "generate"]);
    expect(code, output).toBe(0);
    const catalog = JSON.parse(await readFile(folder.at("target", "catalog.json"), "utf8"));
    const found = Object.values<{ metadata: { name: string; comment: string } }>(catalog.sources);
    expect(found.map(({ metadata }) => metadata.name).toSorted()).toEqual(RELATIONS.toSorted());
    const manifest = JSON.parse(await readFile(folder.at("target", "manifest.json"), "utf8"));
    const sources = Object.values<{ columns: Record<string, { description: string }> }>(manifest.sources);
    const columns = sources.flatMap((source) => Object.values(source.columns));
    expect(columns.filter(({ description }) => description === "")).toEqual([]);
  });

  it("is a package for other projects, which tests its promises there", async () => {
    const project = folder.at("another");
    await mkdir(join(project, "models"), { recursive: true });
    await writeFile(join(project, "dbt_project.yml"), "name: another\nversion: '1.0'\nprofile: docmirror\n");
    await writeFile(join(project, "packages.yml"), JSON.stringify({ packages: [{ local: PROJECT }] }));
    await writeFile(
      join(project, "models", "slow.sql"),
      "select project_id, count(*) as builds from {{ source('docmirror', 'fact_builds') }} group by project_id",
    );
    expect(await dbt(["deps"], project)).toMatchObject({ code: 0 });
    const select = ["--select", "slow", "source:docmirror.success_rate_daily_by_project"];
    const { code, output } = await dbt(["build", ...select], project);
    expect(code, output).toBe(0);
    expect(output).toMatch(/slow[\s\S]*source_one_row_per_key|source_one_row_per_key[\s\S]*slow/);
  });
});

/** Each section of `docs/scale.md` on a reader of the files is run as it is written there, on an export of a small mirror. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { exportReport } from "../../src/report/export/export-report.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { withTestSql } from "../support/database.ts";
import { installPackages, WITH_SPARK, whyNoJava } from "../support/python-packages.ts";
import { createReportedMirror, REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { SHORT_LIVED_JAVA } from "../support/spark.ts";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const page = read("../../docs/scale.md");
const requirements = read("../support/requirements.txt") + read("../support/spark-requirements.txt");
const INSTALL_MS = 1_000_000;
const RUN_MS = 900_000;

/** The section of a reader, and the code in it. */
function sectionOf(title: string) {
  const text = page.split(/^### /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
  const blocks = [...text.matchAll(/```(?:sql|python)\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  return { text, code: blocks.join("").replaceAll("/data/docmirror", folder) };
}

/** What schema `report` answers to the question of all sections. */
const BY_TYPE = `
  select documentation_type, count(succeeded)::float8 as finished, avg(succeeded)::float8 as success_rate
  from report.fact_builds join report.dim_projects using (project_id)
  where triggered_month >= '2025-07' group by documentation_type order by 1`;
const BY_MONTH = `
  select triggered_month, count(succeeded)::float8 as finished, avg(succeeded)::float8 as success_rate
  from report.fact_builds where triggered_month >= '2025-07' group by triggered_month order by 1`;
const NAMED = "build_id, project_slug, project_name, version_slug, version_name";
const BY_BUILD = `select ${NAMED} from report.fact_builds`;

type Row = Record<string, string | number | null>;
let folder: string;
let byType: Row[];
let byMonth: Row[];
let names: Row[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "docmirror-scale-"));
  await using mirror = await createReportedMirror();
  await withTestSql(mirror.url, async (sql) => {
    await sql`update mirror.projects set documentation_type = case id when '2' then 'mkdocs' when '3' then 'sphinx' end`;
    await refreshReport(mirror.sql, REPORT_SETTINGS);
    byType = [...(await sql.unsafe<Row[]>(BY_TYPE))];
    byMonth = [...(await sql.unsafe<Row[]>(BY_MONTH))];
    names = [...(await sql.unsafe<Row[]>(`${BY_BUILD} order by build_id collate "C"`))];
    await exportReport({ sql, folder, format: "parquet", signal: new AbortController().signal });
  });
  expect(byType.map((row) => row.documentation_type)).toEqual(["mkdocs", "sphinx", null]);
  expect(byMonth.map((row) => row.triggered_month)).toEqual(["2025-07", "2025-08"]);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Engines give rows in any order, and add in any order, which moves the last digit of a mean. */
const comparable = (rows: readonly Row[]) =>
  rows
    .map((row) => {
      return { ...row, finished: Number(row.finished), success_rate: Number(row.success_rate).toFixed(12) };
    })
    .toSorted((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)));

describe("docs/scale.md", () => {
  it("has statements for DuckDB that give what schema report gives", async () => {
    const statements = sectionOf("DuckDB").code.split(/;\s*$/m).slice(0, 4);
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    try {
      const answers: Row[][] = [];
      for (const statement of [...statements, `select ${NAMED} from builds order by build_id`])
        answers.push((await connection.runAndReadAll(statement)).getRowObjectsJson() as Row[]);
      const [months = [], types = [], asOf, , named] = answers;
      expect(comparable(months)).toEqual(comparable(byMonth));
      expect(comparable(types)).toEqual(comparable(byType));
      const current_through = "2025-08-15 02:17:00";
      expect(asOf).toEqual([{ run_id: "1", current_through, exported_at: expect.anything() }]);
      expect(named).toEqual(names);
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  });

  /** Python that runs the code of a section and binds its rows. Statements of SQL come as `code`. */
  const READERS = {
    DuckDB: {
      packages: ["duckdb"],
      rows: `import duckdb
found = duckdb.sql(code.split(";")[1])
rows = [dict(zip(found.columns, row)) for row in found.fetchall()]`,
    },
    pandas: {
      packages: ["pandas", "pyarrow"],
      rows: `exec(code)
rows = json.loads(answer.reset_index().to_json(orient="records", double_precision=15))`,
    },
    polars: {
      packages: ["polars"],
      rows: `exec(code)
rows = answer.to_dicts()`,
    },
    Spark: {
      packages: ["pyspark"],
      rows: `from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
exec(code)
assert spark.sql("select count(*), count(project_slug) from builds").first() == (204, 204)
rows = [row.asDict() for row in answer.collect()]`,
    },
    ClickHouse: {
      packages: ["chdb-core"],
      rows: `from chdb.session import Session
session = Session()
question, table = code.split(";")[:2]
rows = json.loads(str(session.query(question, "JSON")))["data"]
session.query(table)
assert str(session.query("select count(), countIf(triggered_month = 'undated') from builds")) == "204,1\\n"`,
    },
  };

  const { Spark, ...others } = READERS;
  const NAME = "has a statement for %s that gives what schema report gives, with the version that it names";
  it.for(Object.entries(others))(NAME, { tags: ["long"], timeout: INSTALL_MS + RUN_MS }, runSection);
  // Half a gigabyte, and a JVM.
  it.for(Object.entries({ Spark }))(
    NAME,
    { tags: ["long", "exhaustive"], timeout: INSTALL_MS + RUN_MS },
    runSection,
  );

  async function runSection(
    [title, { packages, rows }]: [string, { packages: string[]; rows: string }],
    context: TestContext,
  ): Promise<void> {
    const installed = await installPackages(title === "Spark" ? WITH_SPARK : undefined);
    if ("missing" in installed) return context.skip(installed.missing);
    const noJava = title === "Spark" ? await whyNoJava() : null;
    if (noJava !== null) return context.skip(noJava);
    const { text, code } = sectionOf(title);
    for (const name of packages) {
      const [, version = "none"] = new RegExp(`^${name}==(\\d+(?:\\.\\d+)?)`, "m").exec(requirements) ?? [];
      const wanted = name === "pyarrow" ? `${name} ${Number.parseInt(version, 10)}` : version;
      expect(text.split("```")[0]).toContain(wanted);
    }
    const program = `import json, sys\ncode = sys.argv[1]\n${rows}\nprint("answer: " + json.dumps(rows))`;
    const { stdout } = await promisify(execFile)(installed.python, ["-c", program, code], {
      cwd: folder,
      timeout: RUN_MS,
      env: { ...process.env, ...SHORT_LIVED_JAVA },
    });
    const [, answer = ""] = /^answer: (.*)$/m.exec(stdout) ?? [];
    expect(comparable(JSON.parse(answer))).toEqual(comparable(byType));
  }
});

import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { explainBuild } from "../../../src/mirror/builds/explain-build.ts";
import { RELATIONS } from "../../../src/report/dictionary.ts";
import { exportLogs } from "../../../src/report/logs/export-logs.ts";
import { pruneLogs } from "../../../src/report/logs/prune-logs.ts";
import { reclassify } from "../../../src/report/refresh/reclassify.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { withTransaction } from "../../../src/store/connection/sql.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { serveInterface } from "../../support/served-pages.ts";
import { wireBuild, wireProject } from "../../support/wire-records.ts";

let parent: string;
beforeAll(async () => {
  // With all that a path may have in it that a reader could take for more.
  parent = await mkdtemp(join(tmpdir(), "docmirror-logs-it's [a]*{b}-"));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

const DAY = "2024-05-15T00:00:00Z";
const { signal } = new AbortController();

const finished: typeof wireBuild = (id, over) => wireBuild(id, { state: "finished", ...over });

/** Builds of two months and of none, with logs as strangers write them; all but the last two are old and have finished. */
const BUILDS = [
  finished("1", { date: "2024-03-01T10:00:00", success: true, output: "built\r\nwell\n", error: "" }),
  finished("2", { date: "2024-03-02T10:00:00", success: false, error: 'fatal: "quoted", ünï ❤\\N\n' }),
  finished("3", { date: "2024-04-02T10:00:00", success: false, output: "one\nError: no kiln", setup: null }),
  finished("4", { date: "2024-04-03T10:00:00", success: false, output: "", error: "" }),
  finished("5", { date: null, success: false, setup_error: "Killed" }),
  finished("6", { date: "2024-05-16T10:00:00", success: false, error: "Error: new" }),
  finished("7", { date: "2024-03-03T10:00:00", state: "building", output: "so far" }),
];

async function setUp() {
  const loading = await setUpLoading();
  const folder = await mkdtemp(join(parent, "export-"));
  await loading.load("project", [wireProject("1")]);
  await loading.load("build", BUILDS);
  await loading.sql`update mirror.builds set first_seen_at = '2024-04-01' where id = '5'`;
  const { sql, url } = loading;
  return {
    loading,
    folder,
    sql,
    url,
    exportAll: () => exportLogs({ sql, folder, sourceTimezone: "Etc/UTC", signal }),
    prune: (given: { isDry?: boolean; signal?: AbortSignal } = {}) =>
      pruneLogs({ sql, folder, horizon: DAY, sourceTimezone: "Etc/UTC", isDry: false, signal, ...given }),
    async here() {
      const rows = await sql<{ build_id: string }[]>`select build_id from mirror.build_logs order by 1`;
      return rows.map((row) => row.build_id).join(" ");
    },
    [Symbol.asyncDispose]: () => loading[Symbol.asyncDispose](),
  };
}

async function readReports({ sql }: Loading): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const relation of RELATIONS) {
    // The sizes are of what is here.
    if (["freshness", "runs", "log_sizes"].includes(relation)) continue;
    const [schema = "report", name = relation] = relation.includes(".") ? relation.split(".") : [];
    answers[relation] = await sql.unsafe(`select row.*::text from ${schema}.${name} as row order by 1`);
  }
  return answers;
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).toSorted();
}

const PART = (month: string, number = 0) => `build_logs/triggered_month=${month}/part-${number}.parquet`;

describe("logs that an export holds", () => {
  it("leave the mirror, and every report stays as it was, also where all of it is computed again", async () => {
    await using made = await setUp();
    const { loading, folder } = made;
    await refreshReport(made.sql, REPORT_SETTINGS);
    const before = await readReports(loading);
    expect(JSON.stringify(before.fact_builds)).toContain("fatal:");
    expect((await made.exportAll()).added).toEqual({ rows: 5, files: 4 });
    expect(await filesOf(folder)).toEqual([
      "_docmirror.json",
      ...["2024-03", "2024-04", "2024-05", "undated"].map((month) => PART(month)),
    ]);

    const counts = { removed: 4, not_exported: 0, damaged: [] };
    expect(await made.prune({ isDry: true })).toMatchObject(counts);
    expect(await made.here()).toBe("1 2 3 4 5 6 7");
    expect(await made.prune()).toMatchObject(counts);
    expect(await made.here()).toBe("4 6 7");
    await refreshReport(made.sql, { ...REPORT_SETTINGS, check: true });
    expect(await readReports(loading)).toEqual(before);
    await reclassify({ sql: made.sql, isDry: false, ...REPORT_SETTINGS });
    await made.sql`update rollup.state set definition = ''`;
    expect(await refreshReport(made.sql, REPORT_SETTINGS)).toMatchObject({ isFull: true });
    expect(await readReports(loading)).toEqual(before);

    // What left can be read back as it was, and a later export keeps it.
    expect((await made.exportAll()).added).toEqual({ rows: 0, files: 0 });
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    const { build } = await explainBuild(made.sql, "2", "Etc/UTC");
    const file = `${build?.archived_log?.folder}/${build?.archived_log?.path}`.replaceAll("'", "''");
    const read = await connection.runAndReadAll(
      `select output, error, setup, setup_error from read_parquet('${file}') where build_id = '2'`,
    );
    const { output, error, setup, setup_error } = BUILDS[1] ?? {};
    expect(read.getRows()).toEqual([[output, error, setup, setup_error]]);
    connection.closeSync();
    instance.closeSync();
  });

  it("are shown where they are, by the page, the text file and the interface", {
    tags: ["long"],
  }, async () => {
    await using made = await setUp();
    await refreshReport(made.sql, REPORT_SETTINGS);
    await using served = await serveInterface(made.url);
    const revision = () => made.sql`select revision from sync.revisions where resource = 'build'`;
    const before = await revision();
    const list = () => served.json("/api/v1/build/?setup_error=Killed");
    await made.sql`
      with run as (
        insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
        values ('full', 'succeeded', now(), now(), now(), 1, 'test') returning id
      )
      insert into sync.walks (run_id, resource, walk, pages, started_at, finished_at)
      select id, 'build', 'whole', 1, now(), now() from run`;
    expect(await list()).toMatchObject({ meta: { total_count: 1 } });
    await made.exportAll();
    await made.prune();
    const page = await (await served.get("/build/2")).text();
    expect(page).toContain("part-0.parquet");
    expect(page).toContain("where build_id = &#39;2&#39;");
    expect(page).toContain("fatal: &quot;quoted&quot;, ünï ❤");
    const log = await served.get("/build/2/log.txt");
    expect([log.status, await log.text()]).toEqual([410, expect.stringContaining(PART("2024-03"))]);
    expect((await served.get("/build/4/log.txt")).status).toBe(404);
    const nothing = { output: null, error: null, setup: null, setup_error: null };
    expect(await served.json("/api/v1/build/2/")).toMatchObject({ id: "2", ...nothing });
    expect(await revision()).not.toEqual(before);
    expect(await list()).toMatchObject({ meta: { total_count: 0 } });
  });

  it("stay where a file is damaged or gone, and leave after an export that adds them again", {
    tags: ["long"],
  }, async () => {
    await using made = await setUp();
    const { folder } = made;
    await made.exportAll();
    const damaged = await open(join(folder, PART("2024-03")), "r+");
    await damaged.write(Buffer.from("?"), 0, 1, 40);
    await damaged.close();
    await rm(join(folder, PART("2024-04")));
    const counts = { removed: 1, not_exported: 3, damaged: [PART("2024-03"), PART("2024-04")] };
    expect(await made.prune()).toMatchObject(counts);
    expect(await made.here()).toBe("1 2 3 4 6 7");
    const { added, files } = await made.exportAll();
    expect(added).toEqual({ rows: 3, files: 2 });
    expect(files.map(({ path }) => path)).toEqual([
      ...[PART("2024-03"), PART("2024-03", 1), PART("2024-04"), PART("2024-04", 1)],
      ...[PART("2024-05"), PART("undated")],
    ]);
    expect(await made.prune()).toMatchObject({ removed: 3, not_exported: 0, damaged: counts.damaged });
  });

  it("stay while somebody writes them, where they changed since, and where the note of it cannot be stored", {
    tags: ["long"],
  }, async () => {
    await using made = await setUp();
    const { sql } = made;
    await made.exportAll();
    await withTransaction(sql, async (tx) => {
      await tx`update mirror.build_logs set error = error || 'late' where build_id = '2'`;
      expect(await made.prune()).toMatchObject({ removed: 3, not_exported: 1 });
    });
    expect(await made.prune()).toMatchObject({ removed: 0, not_exported: 1 });
    expect((await made.exportAll()).files.map(({ path }) => path)).toContain(PART("2024-03", 1));
    await sql`alter table mirror.archived_logs add constraint none check (build_id <> '2') not valid`;
    await expect(made.prune()).rejects.toThrow("could not prune logs");
    expect(await made.here()).toBe("2 4 6 7");
    await sql`alter table mirror.archived_logs drop constraint none`;
    expect(await made.prune()).toMatchObject({ removed: 1, not_exported: 0 });
  });

  it("are not brought back by a walk, but by a change of the build", { tags: ["long"] }, async () => {
    await using made = await setUp();
    const { loading, sql } = made;
    await made.exportAll();
    await made.prune();
    const away = await made.here();
    loading.nextRun();
    expect(await loading.load("build", BUILDS)).toMatchObject({ updated: 0, unchanged: 7 });
    // As after an update of docmirror that reads records in another way.
    await sql`update mirror.builds set record_hash = '\\x00'`;
    loading.nextRun();
    expect(await loading.load("build", BUILDS)).toMatchObject({ updated: 0, unchanged: 7 });
    expect(await sql`select from mirror.changes`).toEqual([]);
    expect(await made.here()).toBe(away);

    const [first, second, third] = BUILDS;
    const edited = [{ ...first, type: "pdf" }, { ...second, error: "another error" }, third];
    loading.nextRun();
    expect(await loading.load("build", edited)).toMatchObject({ updated: 2, unchanged: 1 });
    expect(await made.here()).toBe("1 2 4 6 7");
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(await sql`select record_id, before, after from mirror.changes order by record_id`).toEqual([
      { record_id: "1", before: { type: "html" }, after: { type: "pdf" } },
      { record_id: "2", before: { log: { sha256 } }, after: { log: { sha256 } } },
    ]);
    const archived = await sql`select build_id from mirror.archived_logs order by 1`;
    expect(archived.map(({ build_id }) => build_id)).toEqual(["3", "5"]);
    // The first is in the export as it is, the second is not.
    expect(await made.prune()).toMatchObject({ removed: 1 });
  });
});

const ELSEWHERE = {
  made_by: "docmirror export --logs",
  layout: 1,
  files: [{ path: "../x/part-0.parquet", rows: 1, bytes: 1, sha256: "0".repeat(64) }],
};

describe("an export of logs", () => {
  it("is read by its user alone, writes over no file that a killed one left, and leaves the folder as it was where it fails", async () => {
    await using made = await setUp();
    const { folder, sql } = made;
    await made.exportAll();
    const { mode } = await stat(join(folder, PART("2024-03", 0)));
    expect(mode & 0o777).toBe(0o600);
    await writeFile(join(folder, PART("2024-03", 1)), "left");
    await sql`update mirror.build_logs set error = 'other' where build_id = '1'`;
    expect((await made.exportAll()).added).toEqual({ rows: 1, files: 1 });
    expect(await filesOf(folder)).toContain(PART("2024-03", 2));
    expect(await readFile(join(folder, PART("2024-03", 1)), "utf8")).toBe("left");

    const before = await filesOf(folder);
    await sql`update mirror.build_logs set error = 'another'`;
    await sql`alter table mirror.build_logs rename column setup_error to gone`;
    await expect(made.exportAll()).rejects.toThrow();
    expect(await filesOf(folder)).toEqual(before);
  });

  it("refuses a folder of other files, of an export of builds, or whose manifest names a file elsewhere", async () => {
    await using made = await setUp();
    for (const [name, content] of [
      ["notes.txt", "kept"],
      ["_docmirror.json", '{"made_by": "docmirror export"}'],
      ["_docmirror.json", JSON.stringify(ELSEWHERE)],
    ] as const) {
      await writeFile(join(made.folder, name), content);
      await expect(made.exportAll(), content).rejects.toMatchObject({ exitCode: 2 });
      await expect(made.prune(), content).rejects.toMatchObject({ exitCode: 2 });
      expect(await filesOf(made.folder)).toEqual([name]);
      await rm(join(made.folder, name));
    }
  });
});

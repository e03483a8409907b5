/** @module-tag long */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { openEmbedded } from "../../../src/store/embedded/open-embedded.ts";
import { type CliOptions, type CliResult, runCli, startCli } from "../../support/cli.ts";
import { withTestSql } from "../../support/database.ts";
import { createFolder } from "../../support/folder.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

async function askDatabase<Row>(dataDir: string, statement: string): Promise<Row[]> {
  const server = await openEmbedded({ dataDir, log: silentLog });
  try {
    return await withTestSql(server.url, async (sql) => {
      return [...(await sql.unsafe<Row[] & object[]>(statement))];
    });
  } finally {
    await server.close();
  }
}

/** From a service that is no demo's into the embedded database of `cwd`. */
async function syncSomethingElse(options: CliOptions, args: string[] = []): Promise<CliResult> {
  const sizes = ["--users", "2", "--projects", "2", "--versions", "2", "--files", "1", "--builds", "3"];
  await using service = startCli(["simulate", ...sizes]);
  const [url] = await service.waitFor("stdout", /^http:\S+(?=\n)/);
  return await runCli(["sync", "--base-url", url, "--rate", "0", ...args], options);
}

/** The whole demo as the README has it. Gives what it printed; throws where it fails. */
async function npmRunDemo(dataDir: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, DOCMIRROR_DATA_DIR: dataDir };
  const run = promisify(execFile)("npm", ["run", "--silent", "demo", "--", ...args], { cwd: ROOT, env });
  return (await run).stdout;
}

// Each demo takes some 20 s of both cores, so one folder sees all that a demo may meet.
describe("demo", { timeout: 600_000 }, () => {
  it("begins anew after Ctrl-C, mirrors a world, can be run again in the same folder, and keeps others out", async () => {
    using folder = createFolder("docmirror-demo-");
    const cwd = folder.path;
    await using stopped = startCli(["demo"], { cwd });
    await stopped.waitFor("stderr", /INFO: run 1: synced/);
    expect(await stopped.stop("SIGINT")).toMatchObject({ code: 130, stdout: "" });

    for (const command of ["sync", "worker"]) {
      const refused = await runCli([command, "--base-url", "http://127.0.0.1:1"], { cwd });
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toContain("use another folder for the real mirror");
    }

    const dataDir = join(cwd, ".docmirror");
    const report = JSON.parse(await npmRunDemo(dataDir, "--json"));
    expect(report.runs).toHaveLength(5);
    expect(report.watches).toHaveLength(2);
    for (const watch of report.watches) expect(watch).toMatchObject({ rounds: 59 });
    for (const run of report.runs) expect(run).toMatchObject({ status: "succeeded" });
    expect(report.runs[0]).toMatchObject({ run_id: 1, kind: "full" });
    const records = report.day.reduce((sum: number, row: { now: number }) => sum + row.now, 0);
    expect(records).toBeGreaterThan(15_000);
    expect(records).toBeLessThan(16_000);
    const builds = report.day.find((row: { resource: string }) => row.resource === "build");
    expect(builds).toMatchObject({ at_first: 7000 });
    expect(builds.new).toBeGreaterThan(100);
    expect(report.success.success_rate).toBeCloseTo(report.success.succeeded / report.success.finished, 10);
    expect(readFileSync(join(report.report, "index.html"), "utf8")).toContain("<h1");
    expect(report.service).toMatch(/^http:/);
    // The pages tell how long a build took where that is known to within five minutes.
    const [truth] = await askDatabase<{ builds: number; finished: number; watched: number }>(
      dataDir,
      `select count(*) as builds, count(*) filter (where state = 'finished') as finished,
        (select avg((duration_s_max - duration_s_min <= 300)::int)::float8 from report.fact_builds
          where finished_before is not null and triggered_at > now() - interval '90 minutes') as watched
      from mirror.builds`,
    );
    const { builds: all = 0, finished = all, watched } = truth ?? {};
    expect(report.success).toMatchObject({ builds: all, finished });
    expect(finished).toBeLessThan(all);
    expect(watched).toBeGreaterThan(0.9);

    // Port 1 answers on no machine that runs tests.
    const env = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
    await using kept = startCli(["demo", "--keep"], { cwd, env });
    await kept.waitFor("stderr", /the demo stays up/);
    expect(kept.stderr()).toContain("DATABASE_URL is set");
    expect(kept.stderr()).toMatch(/the demo started.*the simulated service is up/s);
    const headings = /^The runs of.*^Changes during.*^Next.*-report\/index\.html$/ms;
    expect(kept.stdout()).toMatch(headings);
    const [service] = /http:\S+$/m.exec(kept.stdout()) ?? [];
    const list = await runCli(["get", "build", "--limit", "1", "--json", "--base-url", service ?? ""]);
    expect(JSON.parse(list.stdout).meta.total_count).toBeGreaterThan(7000);

    const second = await runCli(["demo"], { cwd });
    expect(second).toMatchObject({ code: 10, stdout: "" });
    expect(second.stderr).toContain("another demo is using");

    expect((await kept.stop()).code).toBe(143);

    const status = await runCli(["status", "--json", "--max-age", "1h"], { cwd });
    expect(status).toMatchObject({ code: 0 });
    expect(JSON.parse(status.stdout).runs).toHaveLength(5);
  });

  it("never touches a mirror that no demo made", async () => {
    using folder = createFolder("docmirror-demo-");
    const cwd = folder.path;
    expect(await syncSomethingElse({ cwd })).toMatchObject({ code: 0 });
    const demo = await runCli(["demo"], { cwd });
    expect(demo).toMatchObject({ code: 2, stdout: "" });
    expect(demo.stderr).toContain("holds a mirror that was not made by a demo");
    const rows = await askDatabase<{ builds: number; runs: number }>(
      join(cwd, ".docmirror"),
      "select (select count(*) from mirror.builds) as builds, (select count(*) from sync.runs) as runs",
    );
    expect(rows).toEqual([{ builds: 3, runs: 1 }]);
  });
});

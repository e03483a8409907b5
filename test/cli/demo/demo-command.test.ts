/** @module-tag long */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { renderDemo } from "../../../src/cli/demo/findings.ts";
import { openEmbedded } from "../../../src/store/embedded/open-embedded.ts";
import { type CliOptions, type CliResult, runCli, startCli } from "../../support/cli.ts";
import { withTestSql } from "../../support/database.ts";
import { createFolder } from "../../support/folder.ts";

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

// Each demo takes some 20 s of both cores, so one folder sees all that a demo may meet.
describe("demo", { timeout: 900_000 }, () => {
  it("begins anew after Ctrl-C in the same folder, mirrors a world, stays up, and keeps others out", async () => {
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

    // Port 1 answers on no machine that runs tests.
    const env = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
    await using kept = startCli(["demo", "--keep", "--json"], { cwd, env });
    await kept.waitFor("stderr", /the demo stays up/);
    expect(kept.stderr()).toContain("DATABASE_URL is set");
    expect(kept.stderr()).toMatch(/the demo started.*the simulated service is up/s);
    const report = JSON.parse(kept.stdout());
    const { runs, watches, day, success, next, service } = report;
    expect(runs).toHaveLength(5);
    expect(watches).toMatchObject([{ rounds: 59 }, { rounds: 59 }]);
    for (const run of runs) expect(run).toMatchObject({ status: "succeeded" });
    expect(runs[0]).toMatchObject({ run_id: 1, kind: "full" });
    const records = day.reduce((sum: number, row: { now: number }) => sum + row.now, 0);
    expect(records).toBeGreaterThan(15_000);
    expect(records).toBeLessThan(16_000);
    const builds = day.find((row: { resource: string }) => row.resource === "build");
    expect(builds).toMatchObject({ at_first: 7000 });
    expect(builds.new).toBeGreaterThan(100);
    expect(success.builds).toBe(builds.at_first + builds.new);
    expect(success.finished).toBeLessThan(success.builds);
    expect(success.success_rate).toBeCloseTo(success.succeeded / success.finished, 10);
    expect(readFileSync(join(report.report, "index.html"), "utf8")).toContain("<h1");
    const text = renderDemo({ runs, watches, findings: report }, { colour: false });
    expect(text).toMatch(/^The runs of[\s\S]*^Changes during/m);
    const typed = next.map(({ command }: { command: string }) => command);
    expect(typed[0]).toMatch(/-report\/index\.html$/);
    for (const command of typed.slice(1)) expect(command).toMatch(/^(?:npx )?docmirror /);
    const list = await runCli(["get", "build", "--limit", "1", "--json", "--base-url", service]);
    expect(JSON.parse(list.stdout).meta.total_count).toBeGreaterThan(7000);

    const second = await runCli(["demo"], { cwd });
    expect(second).toMatchObject({ code: 10, stdout: "" });
    expect(second.stderr).toContain("another demo is using");

    expect((await kept.stop()).code).toBe(143);

    const status = await runCli(["status", "--json", "--max-age", "1h"], { cwd });
    expect(status).toMatchObject({ code: 0 });
    expect(JSON.parse(status.stdout).runs.length).toBeGreaterThanOrEqual(5);
    // The pages tell how long a build took where that is known to within five minutes.
    const [truth] = await askDatabase<{ watched: number }>(
      join(cwd, ".docmirror"),
      `select avg((duration_s_max - duration_s_min <= 300)::int)::float8 as watched from report.fact_builds
      where finished_before is not null and triggered_at > now() - interval '90 minutes'`,
    );
    expect(truth?.watched).toBeGreaterThan(0.9);
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

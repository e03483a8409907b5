import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { QUIET } from "../../../src/simulate/settings.ts";
import { createWorld } from "../../../src/simulate/world.ts";
import { hasPromtool, promtool, samplesOf, seriesOf, sumOf } from "../../support/alert-firings.ts";
import { runCli, startCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { useFolder } from "../../support/folder.ts";
import { createGate, startService, useService } from "../../support/service.ts";
import { useDatabase } from "../../support/use-database.ts";

const world = createWorld({ users: 12, projects: 8, versions: 20, files: 15, builds: 60, rates: QUIET });

const service = useService(world);
const database = useDatabase();
const folder = useFolder("docmirror-metrics-");

const run = (command: string[], file: string, { databaseUrl = database.url, baseUrl = service.url } = {}) =>
  runCli([
    ...[...command, "--rate", "0", "--retries", "0", "--metrics-file", file],
    ...["--database-url", databaseUrl, "--base-url", baseUrl],
  ]);
const read = (file: string) => readFileSync(file, "utf8");

describe("--metrics-file", () => {
  it("has the figures of the run that wrote it, and of the runs before; nothing else is left in the folder", async () => {
    await using own = await createTestDatabase();
    const place = folder.at("own");
    mkdirSync(place);
    const file = join(place, "docmirror.prom");
    const sync = await run(["sync", "--json"], file, { databaseUrl: own.url });
    expect(sync).toMatchObject({ code: 0 });
    const { requests, resources, duration_ms } = JSON.parse(sync.stdout);
    const text = read(file);
    expect(seriesOf(text, "docmirror_database_up")).toEqual({ "": 1 });
    expect(seriesOf(text, "docmirror_last_run_requests")).toEqual({ 'kind="full"': requests });
    const took = seriesOf(text, "docmirror_last_run_duration_seconds")['kind="full"'];
    expect(took).toBeCloseTo(duration_ms / 1000, 2);
    const statuses = { 'kind="full",status="succeeded"': 1, 'kind="full",status="failed"': 0 };
    expect(seriesOf(text, "docmirror_last_run_status")).toMatchObject(statuses);
    const walks = Object.values<{ inserted: number }>(resources);
    const inserted = walks.reduce((sum, walk) => sum + walk.inserted, 0);
    expect(sumOf(text, "docmirror_last_run_records", 'outcome="inserted"')).toBe(inserted);
    expect(seriesOf(text, "docmirror_mirrored_records")).toMatchObject({ 'resource="build"': 60 });

    expect(await run(["watch", "--once"], file, { databaseUrl: own.url })).toMatchObject({ code: 0 });
    const kinds = Object.keys(seriesOf(read(file), "docmirror_last_run_requests"));
    expect(kinds).toEqual(['kind="full"', 'kind="watch"']);
    expect(readdirSync(place)).toEqual(["docmirror.prom"]);
    expect(statSync(file).mode & 0o777).toBe(0o644);
  });

  it("has how many more the service counts than it shows, after each run", { tags: ["long"] }, async () => {
    await using counting = await startService(world, {
      async intercept(request, next) {
        const reply = await next();
        if (!/\/(?:build|version)\/\?/.test(request.url) || !(reply instanceof Response)) return reply;
        const page = (await reply.json()) as { meta: { total_count: number } };
        return Response.json({ ...page, meta: { ...page.meta, total_count: page.meta.total_count + 7 } });
      },
    });
    await using own = await createTestDatabase();
    const file = folder.at("deficit.prom");
    const place = { databaseUrl: own.url, baseUrl: counting.url };
    for (const command of [["sync"], ["sync", "--full"], ["watch", "--once"], ["sync", "--incremental"]]) {
      const { code } = await run([...command, "--page-size", "10"], file, place);
      const deficits = seriesOf(read(file), "docmirror_list_deficit_records");
      // The lists were read to their end, so the count is what is wrong. The alert tells it, no exit code.
      expect({ command, code, ...deficits }).toMatchObject({
        code: 0,
        ...{ 'resource="build"': 7, 'resource="version"': 7, 'resource="user"': 0 },
      });
    }
  });

  it("has no counter of a process, no series of node_exporter's own, and no times", async () => {
    const file = folder.at("shape.prom");
    await run(["sync"], file);
    const text = read(file);
    expect(text).not.toMatch(/^(?:process|nodejs|go)_/m);
    const counters = [...text.matchAll(/^# TYPE (\w+) counter$/gm)].map(([, name]) => name);
    expect(counters).toEqual(["docmirror_schema_changes_total"]);
    expect(text.split("\n").filter((line) => /^\w+(?:\{.*\})? \S+ \S+$/.test(line))).toEqual([]);
    expect(samplesOf(text).size).toBeGreaterThan(50);
    if (hasPromtool) expect(promtool(["check", "metrics"], text)).toEqual({ code: 0, output: "" });
  });

  it("is written when the run fails", async () => {
    const file = folder.at("failed.prom");
    const { code } = await run(["sync"], file, { baseUrl: `${service.url}/elsewhere` });
    expect(code).not.toBe(0);
    expect(seriesOf(read(file), "docmirror_database_up")).toEqual({ "": 1 });
  });

  it("says that there is no database when none can be opened", async () => {
    const file = folder.at("away.prom");
    const { code } = await run(["sync"], file, { databaseUrl: "postgres://nobody@127.0.0.1:1/none" });
    expect(code).toBe(4);
    const series = [...samplesOf(read(file)).keys()].filter((name) => !name.includes("build_info"));
    expect(series).toEqual(["docmirror_database_up"]);
  });

  it("is written when the run is stopped", { tags: ["long"] }, async () => {
    const file = folder.at("stopped.prom");
    const { reached, intercept } = createGate("/build/?");
    await using slow = await startService(world, { intercept });
    await using own = await createTestDatabase();
    const place = ["--database-url", own.url, "--base-url", slow.url];
    await using cli = startCli(["sync", "--rate", "0", "--metrics-file", file, ...place]);
    await reached;
    expect((await cli.stop()).code).toBe(143);
    const interrupted = { 'kind="full",status="interrupted"': 1 };
    expect(seriesOf(read(file), "docmirror_last_run_status")).toMatchObject(interrupted);
  });

  it.each([
    ["a folder that is not there", "missing/docmirror.prom", /its folder is not there/],
    ["a folder in its place", "place", /it is a folder/],
  ])("refuses %s before the run begins", async (_what, name, message) => {
    mkdirSync(folder.at("place"), { recursive: true });
    const before = service.requests().total;
    const { code, stderr } = await run(["sync"], folder.at(name));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
    expect(stderr).not.toContain("sync started");
    expect(service.requests().total).toBe(before);
  });

  it.skipIf(process.getuid?.() === 0)("refuses a folder that it may not write to", async () => {
    const locked = folder.at("locked");
    mkdirSync(locked);
    chmodSync(locked, 0o555);
    const stderr = expect.stringContaining("its folder may not be written to");
    expect(await run(["sync"], join(locked, "x.prom"))).toMatchObject({ code: 2, stderr });
  });

  it("does not go with a run that writes nothing, or that does not end", async () => {
    expect(await run(["sync", "--dry-run"], folder.at("x.prom"))).toMatchObject({ code: 2 });
    const stderr = expect.stringContaining("add --once");
    expect(await run(["watch"], folder.at("x.prom"))).toMatchObject({ code: 2, stderr });
  });
});

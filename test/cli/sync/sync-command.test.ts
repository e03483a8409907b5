import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { hasPromtool, promtool, samplesOf, seriesOf, sumOf } from "../../support/alert-firings.ts";
import { type CliOptions, type CliResult, runCli, startCli } from "../../support/cli.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { useFolder } from "../../support/folder.ts";
import { forgetService, mirrorRows } from "../../support/mirror-rows.ts";
import { createGate, startService, useService } from "../../support/service.ts";
import { createWorld } from "../../support/simulation.ts";
import { syncOnce } from "../../support/sync.ts";
import { useDatabase } from "../../support/use-database.ts";

/** A world that stands still, so that any two mirrors of it are equal. */
const world = createWorld({ users: 12, projects: 8, versions: 20, files: 15, builds: 60, rates: QUIET });
const FAST = ["--rate", "0"];

const service = useService(world);
const database = useDatabase();
/** Port 1 answers on no machine that runs tests. */
const NOBODY = "postgres://me@127.0.0.1:1/mirror";

function sync(
  args: string[],
  options: CliOptions & { databaseUrl?: string; baseUrl?: string } = {},
): Promise<CliResult> {
  const { databaseUrl = database.url, baseUrl = service.url, ...rest } = options;
  return runCli(["sync", ...FAST, "--database-url", databaseUrl, "--base-url", baseUrl, ...args], rest);
}

/**
 * What was tried, what came back, what to do: one message with a hint below it, and no stack trace. Only a run that had begun has a
 * summary on stdout.
 */
function expectFailure({ code, stdout, stderr }: CliResult, expected: number, message: RegExp): void {
  expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringMatching(message) });
  expect(stdout).toMatch(/^$|: failed after /);
  const told = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
  expect(told[0]).toMatch(/^docmirror: /);
  expect(told.length).toBeGreaterThanOrEqual(2);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).not.toContain("a bug");
}

function ask<Row extends object>(databaseUrl: string, statement: string): Promise<Row[]> {
  return withTestSql(databaseUrl, async (sql) => [...(await sql.unsafe<Row[]>(statement))]);
}

async function startGated(closed: string) {
  const { reached, intercept } = createGate(closed);
  return Object.assign(await startService(world, { intercept }), { reached });
}

const startSync = (own: { url: string }, { url }: { url: string | URL }, ...args: string[]) =>
  startCli(["sync", ...FAST, "--base-url", String(url), "--database-url", own.url, ...args]);

it.skipIf(!existsSync("/dev/full"))(
  "a full disk under stdout costs the summary alone: the run is stored, exit code 8",
  { tags: ["long"] },
  async () => {
    await using own = await createTestDatabase();
    const { code, stderr } = await sync(["--json"], { databaseUrl: own.url, stdoutFile: "/dev/full" });
    expect({ code, stderr }).toEqual({
      code: 8,
      stderr: expect.stringContaining("stored, but could not write to stdout"),
    });
    expect(await ask(own.url, "select status from sync.runs")).toEqual([{ status: "succeeded" }]);
    const migrated = await runCli(["migrate"], { env: { DATABASE_URL: own.url }, stdoutFile: "/dev/full" });
    expect(migrated.code).toBe(8);
  },
);

describe("wrong input", () => {
  it("a database that refuses exits 4, and which service is read was said before", async () => {
    const result = await sync([], { databaseUrl: NOBODY });
    expectFailure(result, 4, /Cannot reach Postgres at 127\.0\.0\.1:1/);
    const [line = ""] = result.stderr.split("\n").filter((one) => one.includes('"msg"'));
    expect(JSON.parse(line)).toMatchObject({ msg: "sync started", service: service.url });
  });

  it.each([
    ["newer", "insert into sync.migrations (tag, hash) values ('0999_of_tomorrow', 'x')"],
    ["older", "update sync.definitions set hash = '', version = '0.0.0' where name = 'report.freshness'"],
  ])(
    "a database whose schema is %s exits 7 and is left alone",
    { tags: ["long"] },
    async (age, statement) => {
      await using other = await createTestDatabase();
      await other.sql.unsafe(statement);
      const ledger = async () => [...(await other.sql`select * from sync.migrations order by tag`)];
      const before = await ledger();
      const message = new RegExp(`${age} than this program`);
      expectFailure(await sync([], { databaseUrl: other.url }), 7, message);
      expectFailure(await runCli(["status", "--database-url", other.url]), 7, message);
      expect(await ledger()).toEqual(before);
      expect(await other.sql`select * from sync.runs`).toEqual([]);
    },
  );
});

describe("sync --content", () => {
  it("fetches the pages of the files and says how many", { tags: ["long"] }, async () => {
    await using fresh = await createTestDatabase();
    const first = await sync(["--content"], { databaseUrl: fresh.url });
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/\n {2}pages of files: 15 fetched, 0 unchanged, 0 failed, 0 left\n$/);
    const env = { DOCMIRROR_CONTENT: "on" };
    const second = await sync(["--json"], { databaseUrl: fresh.url, env });
    expect(JSON.parse(second.stdout).content).toMatchObject({ fetched: 0, unchanged: 15, ended: "done" });
    const off = await sync(["--content", "off", "--json"], { databaseUrl: fresh.url, env });
    expect(JSON.parse(off.stdout)).not.toHaveProperty("content");
    const none = await sync(["--content", "--content-budget", "0"], { databaseUrl: fresh.url });
    expect(none.code).toBe(0);
    expect(none.stdout).toMatch(/, 15 left; the time for one sync was up\n$/);
  });
});

describe("sync", { tags: ["long"] }, () => {
  it("mirrors everything; the summary has the promised keys and a second run changes no row", async () => {
    await using own = await createTestDatabase({ migrated: false });
    const first = await sync(["--json"], { databaseUrl: own.url });
    expect(first.code).toBe(0);
    const summary = JSON.parse(first.stdout);
    expect(Object.keys(summary)).toEqual([
      ...[
        "run_id",
        "kind",
        "status",
        "started_at",
        "finished_at",
        "duration_ms",
        "requests",
        "bytes",
        "asked_for",
      ],
      ...["resources", "references", "unfinished", "transitions"],
    ]);
    expect(summary).toMatchObject({ run_id: 1, kind: "full", status: "succeeded" });
    expect(Object.keys(summary.references)).toEqual(["resolved", "unresolved"]);
    expect(Object.keys(summary.resources).sort()).toEqual([...RESOURCES].sort());
    for (const resource of RESOURCES) {
      const listed = [...world.truth().records(resource)].filter((one) => one.listed).length;
      const walk = summary.resources[resource];
      const keys = "deleted inserted pages quarantined records restored total_count unchanged updated walk";
      expect(Object.keys(walk).sort().join(" ")).toBe(keys);
      expect(walk).toMatchObject({ walk: "whole", records: listed, total_count: listed, quarantined: 0 });
    }
    const before = await mirrorRows(own.url);
    const second = JSON.parse((await sync(["--json", "--full"], { databaseUrl: own.url })).stdout);
    expect(second).toMatchObject({ run_id: 2, status: "succeeded", transitions: 0 });
    for (const resource of RESOURCES) {
      expect(second.resources[resource]).toMatchObject({ inserted: 0, updated: 0, deleted: 0, restored: 0 });
    }
    expect(await mirrorRows(own.url)).toEqual(before);
    expect(await ask(own.url, "select * from mirror.changes")).toEqual([]);
  });

  it("deletions beyond --max-delete-ratio are held back: exit 3 and why; --allow-mass-delete makes them", async () => {
    await using own = await createTestDatabase();
    const users = (...args: string[]) => sync(["--resource", "user", ...args], { databaseUrl: own.url });
    await syncOnce(own.url, new URL(service.url), { resources: ["user"] });
    const strangers = `insert into mirror.users (id, first_seen_at, changed_at, record_hash)
      select n, '2020-01-01', '2020-01-01', '' from generate_series(9000001, 9000030) as n`;
    await ask(own.url, strangers);
    const held = await users("--max-delete-ratio", "0.7");
    expect(held.code).toBe(3);
    expect(held.stdout).toMatch(/^user +whole( +\d+){5} +0 +0 +0$/m);
    expect(held.stdout).toMatch(/^ {2}30 users have been missing .*--allow-mass-delete/m);
    const { code, stdout } = await users("--allow-mass-delete");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^user +whole( +\d+){5} +30 +0 +0$/m);
    expect(await ask(own.url, "select 1 from mirror.users where deleted_at is null")).toHaveLength(12);
  });
});

describe("a stop in the middle of a sync", { tags: ["long"] }, () => {
  it.each([
    ["SIGINT", 130, "interrupted"],
    // The next run closes it.
    ["SIGKILL", null, "running"],
  ] as const)("by %s exits %s, and the next sync ends in the rows of an undisturbed one", async (signal, code, status) => {
    await using own = await createTestDatabase();
    await using undisturbed = await createTestDatabase();
    const small = ["--page-size", "5", "--concurrency", "1"];
    {
      await using gated = await startGated("/build/?format=json&limit=5&offset=21");
      await using cli = startSync(own, gated, ...small);
      await gated.reached;
      const stored = () =>
        ask(own.url, "select from sync.walks where resource = 'build' and checkpoint is not null");
      await expect.poll(stored, { timeout: 30_000 }).toHaveLength(1);
      const result = await cli.stop(signal);
      expect(result.code).toBe(code);
      if (code !== null) expect(result.stderr).toContain(`docmirror: stopped by ${signal}`);
      expect(result.stderr).not.toMatch(/a bug|^\s+at /m);
    }
    const runs = () => ask<{ status: string }>(own.url, "select status from sync.runs order by id");
    expect(await runs()).toEqual([{ status }]);

    await withTestSql(own.url, forgetService);
    const next = await sync([...small, "--json"], { databaseUrl: own.url });
    await sync(small, { databaseUrl: undisturbed.url });
    expect(next.code).toBe(0);
    const resources = { build: { walk: "whole" } };
    expect(JSON.parse(next.stdout)).toMatchObject({ status: "succeeded", resources });
    expect(next.stderr).toContain("walk resumes at its checkpoint");
    expect(await runs()).toEqual([{ status: "interrupted" }, { status: "succeeded" }]);
    expect(await mirrorRows(own.url)).toEqual(await mirrorRows(undisturbed.url));
  });
});

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

  it("replaces the file that a link points to, and leaves the link", { tags: ["long"] }, async () => {
    const [link, target] = [folder.at("link.prom"), folder.at("target.prom")];
    symlinkSync("target.prom", link);
    for (const isThere of [false, true]) {
      expect(existsSync(target)).toBe(isThere);
      await run(["watch", "--once"], link);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect(read(target)).toContain("docmirror_database_up 1");
    }
  });

  it("has no counter of a process, no series of node_exporter's own, and no times", {
    tags: ["long"],
  }, async () => {
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

  it("is written when the run fails", { tags: ["long"] }, async () => {
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

  it("does not go with a run that does not end", async () => {
    const stderr = expect.stringContaining("add --once");
    expect(await run(["watch"], folder.at("x.prom"))).toMatchObject({ code: 2, stderr });
  });
});

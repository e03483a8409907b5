import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { startServer } from "../../../src/serve/http/server.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { pageOf, runCli, startCli } from "../../support/cli.ts";
import {
  absentDatabase,
  createTestDatabase,
  type TestDatabase,
  withTestSql,
} from "../../support/database.ts";
import { linkDatabase } from "../../support/database-link.ts";
import { holdRefreshes } from "../../support/leases.ts";
import { createGate, startService, TINY } from "../../support/service.ts";
import { createWorld } from "../../support/simulation.ts";

/** Never in these years, so that nothing but the start begins a sync. */
const NEVER = ["--sync-cron", "0 0 29 2 *", "--rate", "0", "--http-port", "0"];

const workOn = (service: { url: string }, database: { url: string }) =>
  ["worker", ...NEVER, "--base-url", service.url].concat("--database-url", database.url);

const runsOf = ({ sql }: TestDatabase) =>
  sql`select status, kind from sync.runs where kind <> 'watch' order by id`;

describe("worker", () => {
  it("makes up for the missed night at its start, not again at the next; a watch beside it exits 10 and names it", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase({ migrated: false });
    await using service = await startService(TINY);
    const args = workOn(service, database);
    await using first = startCli(args);
    await first.waitFor("stderr", /sync succeeded/);
    expect(first.stderr()).toContain("missed a scheduled run");
    const page = await pageOf(first);
    const read = async () => (await fetch(page)).text();
    await expect.poll(read, { timeout: 60_000 }).toContain("As of </span><b>");
    const env = { DATABASE_URL: database.url };
    const watch = await runCli(["watch", "--base-url", service.url], { env });
    const leader = /another worker leads on this database: process \d+ on \S+, since \d{4}-/;
    expect(watch).toMatchObject({ code: 10, stderr: expect.stringMatching(leader) });
    expect(await first.stop()).toMatchObject({ code: 143, stdout: "" });

    await using second = startCli(args);
    await second.waitFor("stderr", /the worker is up/);
    expect((await second.stop("SIGINT")).code).toBe(130);
    expect(await runsOf(database)).toEqual([{ status: "succeeded", kind: "full" }]);
  });

  it("reads lists and follows builds while another session keeps it from refreshing the reports, and names that one", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    const world = createWorld({ ...TINY, rates: QUIET, startAt: new Date(), clockSteps: false });
    await using service = await startService(world);
    await using worker = await withTestSql(database.url, async (holder) => {
      await holdRefreshes(holder);
      const cli = startCli([...workOn(service, database), "--watch-cron", "* * * * * *"]);
      await cli.waitFor("stderr", /sync succeeded/);
      world.triggerBuilds(2);
      await cli.waitFor("stderr", /watch round ended/);
      await cli.waitFor("stderr", /waits_for\W+session \d+ \(docmirror test\) of role/);
      expect(await database.sql`select from rollup.state`).toHaveLength(0);
      return cli;
    });
    const isReported = () => database.sql`select from rollup.state`;
    await expect.poll(isReported, { timeout: 60_000 }).toHaveLength(1);
    expect((await worker.stop()).code).toBe(143);
  });

  it("SIGTERM in the middle of a run ends it at a checkpoint", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    // The third page of builds comes only when the test is over.
    const { reached, intercept } = createGate("/build/?format=json&limit=5&offset=9");
    await using service = await startService(TINY, { intercept });
    const small = ["--page-size", "5", "--concurrency", "1"];
    await using cli = startCli([...workOn(service, database), ...small]);
    await reached;
    const sentAt = performance.now();
    expect(await cli.stop()).toMatchObject({ code: 143, signal: null });
    expect(performance.now() - sentAt).toBeLessThan(10_000);
    expect(await runsOf(database)).toEqual([{ status: "interrupted", kind: "full" }]);
  });

  it("ends at once where waiting cannot help", { tags: ["long"] }, async () => {
    const none = absentDatabase();
    const taken = await startServer({ app: new Hono(), host: "127.0.0.1", port: 0 });
    const nowhere = ["--base-url", "http://127.0.0.1:1"];
    const noUpstream = await runCli(["worker"]);
    const noDatabase = await runCli(["worker", ...NEVER, ...nowhere, "--database-url", none]);
    const noCron = await runCli(["worker", ...nowhere, "--sync-cron", "61 2 * * *"]);
    const noPort = await runCli(["worker", ...nowhere, "--http-port", new URL(taken.url).port]);
    await taken.close();
    expect([noUpstream, noDatabase, noCron, noPort].map(({ code }) => code)).toEqual([2, 4, 2, 2]);
    expect(noUpstream.stderr).toContain("DOCMIRROR_BASE_URL");
    expect(noCron.stderr).toContain('"61 2 * * *" is not a cron line: minute 61 is not within 0 to 59');
    expect(noPort.stderr).toContain("another program listens there");
  });

  it("lives before its database answers, is ready once the mirror is there", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase({ migrated: false });
    await using link = await linkDatabase(database.url);
    await link.cut();
    await using service = await startService(TINY);
    await using cli = startCli(workOn(service, link));
    const url = await pageOf(cli);
    const statusOf = async (path: string) => (await fetch(url + path)).status;
    await cli.waitFor("stderr", /the database is down; waiting for it/);
    const statuses = await Promise.all(["/livez", "/readyz", "/status.json"].map(statusOf));
    expect(statuses).toEqual([200, 503, 503]);
    await link.restore();
    await expect.poll(() => statusOf("/readyz")).toBe(200);
    await cli.waitFor("stderr", /sync succeeded/);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
      /^docmirror_http_requests_total\{.*\} [1-9]/m,
    );
    const readDocument = async () => (await fetch(`${url}/status.json`)).json();
    await expect.poll(readDocument).toMatchObject({
      stale: false,
      runs: [{ kind: "full", status: "succeeded" }],
      leader: { pid: cli.child.pid, term: 1 },
      next_runs: [{ job: "sync" }, { job: "watch" }, { job: "prune" }],
    });

    link.freeze();
    await expect.poll(() => statusOf("/readyz")).toBe(503);
    expect(await statusOf("/livez")).toBe(200);
    await link.restore();
    await expect.poll(() => statusOf("/readyz")).toBe(200);
    expect((await cli.stop()).code).toBe(143);
  });
});

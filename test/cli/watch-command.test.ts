import { beforeAll, describe, expect, it } from "vitest";
import type { RunSummary } from "../../src/mirror/lists/summary.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { startRun } from "../../src/store/ledger/run-ledger.ts";
import { type CliOptions, runCli, startCli } from "../support/cli.ts";
import { absentDatabase, createTestDatabase, type TestDatabase } from "../support/database.ts";
import { otherProcess } from "../support/leases.ts";
import { forgetService } from "../support/mirror-rows.ts";
import { useService } from "../support/service.ts";
import { createWorld } from "../support/simulation.ts";
import { syncOnce } from "../support/sync.ts";
import { useDatabase } from "../support/use-database.ts";

/** Builds are dated by the real time, as the program reads it. */
const world = createWorld({
  users: 3,
  projects: 4,
  versions: 6,
  files: 3,
  builds: 40,
  rates: QUIET,
  startAt: new Date(),
  clockSteps: false,
  stuckShare: 0,
});
const EACH_SECOND = ["--watch-cron", "* * * * * *"];

const service = useService(world);
const mirrored = useDatabase();
beforeAll(async () => {
  const { error } = await syncOnce(mirrored.url, new URL(service.url));
  if (error) throw error;
  // The copies below would say that they were restored.
  await mirrored.sql`delete from sync.places`;
  // A database is copied while nobody is connected.
  await mirrored.sql.end();
});

const watchArgs = (...more: string[]) => ["watch", "--rate=0", "--base-url", service.url, ...more];

/** By the environment: a password in a flag brings a warning. */
const on = (databaseUrl: string, options: CliOptions = {}): CliOptions => ({
  ...options,
  env: { DATABASE_URL: databaseUrl },
});

const runsOf = ({ sql }: TestDatabase) =>
  sql<{ kind: string; status: string }[]>`select kind, status from sync.runs order by id`;

describe("watch --once", () => {
  it("makes one round and tells what it saw, as a table or as JSON", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase({ copyOf: mirrored.url });
    const ids = world.triggerBuilds(3);
    const table = await runCli(watchArgs("--once"), on(database.url));
    expect(table).toMatchObject({ code: 0, stderr: "" });
    expect(table.stdout).toMatch(/build +head +2 +\d+ +[3-9] /);
    expect(table.stdout).toMatch(/run 2, watch: succeeded after .*, [3-9] transitions/);

    const { code, stdout } = await runCli(watchArgs("--json"), on(database.url));
    expect(code).toBe(0);
    const summary = JSON.parse(stdout) as RunSummary;
    expect(summary).toMatchObject({ run_id: 3, kind: "watch", status: "succeeded", transitions: 0 });
    expect(Object.keys(summary.resources)).toEqual(["build"]);
    const rows = database.sql`select 1 from mirror.build_transitions where build_id = any (${ids}::text[])`;
    expect(await rows).toHaveLength(3);
  });

  it("gives way to a sync at once and exits 10", async () => {
    await using database = await createTestDatabase({ copyOf: mirrored.url });
    await using other = otherProcess(database.url);
    const lock = await other.takeRun();
    await startRun(database.sql, "full", "2024-05-15T01:00:00Z", lock);
    const { code, stdout, stderr } = await runCli(watchArgs("--once"), on(database.url));
    await lock.release();
    expect([code, stdout]).toEqual([10, ""]);
    expect(stderr).toContain("another run is under way: run 2");
  });

  it("tells what kept it from looking, each by its exit code", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase({ copyOf: mirrored.url });
    await forgetService(database.sql);
    const nowhere = ["--once", "--retries", "0", "--base-url", "http://127.0.0.1:1"];
    for (const [args, options, code, words] of [
      [["watch", "--once"], {}, 2, "DOCMIRROR_BASE_URL"],
      [watchArgs(...nowhere), on(database.url), 5, ""],
      [watchArgs("--once"), on(absentDatabase()), 4, ""],
      [watchArgs("--watch-cron", "every minute"), on(database.url), 2, "--watch-cron"],
      [watchArgs("--once"), on("postgres://nobody@127.0.0.1:1/none"), 4, ""],
    ] as const)
      expect(await runCli(args, options)).toMatchObject({ code, stderr: expect.stringContaining(words) });
  });
});

describe("watch", () => {
  it("makes a round at once and one at each tick, until it is stopped", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase({ copyOf: mirrored.url });
    await using cli = startCli(watchArgs(...EACH_SECOND), on(database.url));
    await cli.waitFor("stderr", /the watch is up/);
    const [id] = world.triggerBuilds(1);
    await cli.waitFor("stderr", /watch round ended/);
    const sentAt = performance.now();
    expect(await cli.stop()).toMatchObject({ code: 143, stdout: "" });
    expect(performance.now() - sentAt).toBeLessThan(10_000);
    const seen = database.sql`select rule from mirror.build_transitions where build_id = ${id ?? ""}`;
    expect(await seen).toEqual([{ rule: "date" }]);
    const rounds = (await runsOf(database)).filter(({ kind }) => kind === "watch");
    for (const { status } of rounds) expect(status).toMatch(/^(succeeded|interrupted)$/);
  });

  it("waits for a database that is down", { tags: ["long"] }, async () => {
    await using cli = startCli(watchArgs(), on("postgres://nobody@127.0.0.1:1/none"));
    await cli.waitFor("stderr", /the database is down; waiting for it/);
    expect(await cli.stop()).toMatchObject({ code: 143, stdout: "" });
  });
});

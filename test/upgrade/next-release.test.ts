import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { type CliResult, runCli, startCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { installRelease, makeNextRelease } from "../support/next-release.ts";
import { LATER_SERVICE } from "./stored-files.ts";
import { serveStored } from "./stored-service.ts";

const ADDITIVE = `-- additive: a table, a column and an index more
CREATE TABLE "sync"."next_things" ("id" bigint PRIMARY KEY NOT NULL);
--> statement-breakpoint
ALTER TABLE "mirror"."builds" ADD COLUMN "next_field" text;
--> statement-breakpoint
CREATE INDEX "builds_next" ON "mirror"."builds" USING btree ("next_field");`;

const NOT_ADDITIVE = `-- not additive: an older program writes this column
ALTER TABLE "mirror"."builds" RENAME COLUMN "success" TO "succeeded";`;

/** Another formula of stored answers, and a view with a column more. */
const MORE_REPORTS = {
  "builds_source.sql": (text: string) => `${text}\n-- the next one`,
  "failing_now.sql": (text: string) => text.replace(/ AS reference$/m, " AS reference, 1 AS next_column"),
};

const WARNING = "a later version has migrated this database";
const PAUSE = "and writes no backups";

/** An empty mirror of a service on loopback, and both programs at it. */
async function setUp(next: { script: URL }, options?: Parameters<typeof serveStored>[1]) {
  const service = await serveStored(LATER_SERVICE, options);
  const database = await createTestDatabase();
  const env = {
    DATABASE_URL: database.url,
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_RATE: "0",
    DOCMIRROR_PAGE_SIZE: "20",
  };
  return {
    service,
    env,
    old: (...args: string[]) => runCli(args, { env }),
    startOld: (...args: string[]) => startCli(args, { env }),
    next: (...args: string[]): Promise<CliResult> => runCli(args, { env, script: next.script }),
    startNext: (...args: string[]) => startCli(args, { env, script: next.script }),
    read: <T>(fn: (sql: Sql) => Promise<T>) =>
      withSql(database.url, { applicationName: "docmirror test", max: 1 }, fn),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await database.dispose();
    },
  };
}

describe("a program whose database the next release has migrated", {
  tags: ["long"],
  timeout: 300_000,
}, () => {
  test("goes on where that is additive, and leaves the reports to the next release", async () => {
    using next = makeNextRelease({ migration: ADDITIVE, definitions: MORE_REPORTS });
    await using mirror = await setUp(next);
    const refreshed = () =>
      mirror.read(async (sql) => (await sql<{ id: number }[]>`select run_id as id from rollup.state`)[0]?.id);
    expect((await mirror.old("sync")).code).toBe(0);
    expect(JSON.parse((await mirror.next("migrate", "--json")).stdout)).toMatchObject({
      applied: [next.tag],
    });
    expect(await refreshed()).toBe(1);

    expect((await mirror.old("doctor")).stdout).toContain("this program writes no backups");
    const status = await mirror.old("migrate", "--status");
    expect(status.stdout.replaceAll(/\s+/g, " ")).toMatch(
      / is newer; it holds 1 that this program does not know; this program may use it $/,
    );
    expect(await mirror.old("migrate")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("a later version's"),
    });
    for (const [command, runId] of [
      [["sync", "--full", "--json"], 2],
      [["watch", "--once", "--json"], 3],
    ] as const) {
      const { code, stdout, stderr } = await mirror.old(...command);
      expect({ code, summary: JSON.parse(stdout) }).toMatchObject({
        code: 0,
        summary: { run_id: runId, status: "succeeded" },
      });
      expect(stderr.split(WARNING)).toHaveLength(2);
      expect(stderr).toContain(PAUSE);
    }
    expect(await mirror.old("report", "failing_now", "--json")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("a later version of docmirror refreshes them"),
    });
    await using served = mirror.startOld("serve", "--http-port", "0");
    const [address = ""] = await served.waitFor("stdout", /http:\S+/);
    await served.waitFor("stderr", /a later version of docmirror refreshes the figures/);
    const pageStatus = async () => (await fetch(`${address}/api/v1/build/?limit=1`)).status;
    await expect.poll(pageStatus).toBe(200);
    expect(await (await fetch(address)).text()).toContain("<!doctype html>");
    expect(await refreshed()).toBe(1);

    expect((await mirror.next("sync")).code).toBe(0);
    expect(await refreshed()).toBe(4);
  });

  test("ends its worker with exit code 7 where it may not go on", async () => {
    using next = makeNextRelease({ migration: NOT_ADDITIVE });
    await using mirror = await setUp(next);
    expect((await mirror.old("sync")).code).toBe(0);
    await using worker = mirror.startOld("watch", "--watch-cron", "* * * * * *");
    await worker.waitFor("stderr", /watch round ended/);
    expect(await mirror.next("migrate")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(next.tag),
    });
    const { code, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({
      code: 7,
      stderr: expect.stringMatching(
        /newer than this program.*\n +upgrade docmirror to the version that made it\n$/,
      ),
    });
    const runs = await mirror.read((sql) => sql<{ status: string }[]>`select distinct status from sync.runs`);
    expect(runs.filter(({ status }) => !["succeeded", "interrupted"].includes(status))).toEqual([]);
  });
});

describe("a program whose files the next release has replaced while it runs", {
  tags: ["long"],
  timeout: 300_000,
}, () => {
  test("sends its first request after that, as a worker that waits for the night", {
    tags: ["exhaustive"],
  }, async () => {
    using release = installRelease();
    await using mirror = await setUp(release);
    expect((await mirror.next("sync")).code).toBe(0);
    await using worker = mirror.startNext("watch", "--watch-cron", "*/5 * * * * *");
    await worker.waitFor("stderr", /the watch is up/);
    rmSync(new URL("../", release.script), { recursive: true });
    const [said] = await worker.waitFor("stderr", /watch round ended|run failed/);
    expect(said).toBe("watch round ended");
  });

  test("leaves the reports to the next release, and prints and measures its sync to the end", async () => {
    using release = installRelease();
    const metrics = fileURLToPath(new URL("../../docmirror.prom", release.script));
    await using mirror = await setUp(release, { delayMs: 200, answered: 40 });
    await using sync = mirror.startNext("sync", "--metrics-file", metrics);
    await expect.poll(() => mirror.service.requests()).toBeGreaterThan(12);
    release.upgrade({ migration: ADDITIVE, definitions: MORE_REPORTS });
    expect((await mirror.next("migrate")).code).toBe(0);
    // Nothing of its own is there any more.
    rmSync(new URL("../", release.script), { recursive: true });
    mirror.service.release();
    expect(await sync.ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^build +whole /m) });
    expect(readFileSync(metrics, "utf8")).toMatch(
      /docmirror_last_run_status\{kind="full",status="succeeded"\} 1/,
    );
    expect(await mirror.read((sql) => sql`select run_id from rollup.state`)).toEqual([{ run_id: 0 }]);
  });
});

describe("migrate of the next release, while a sync is under way", {
  tags: ["long"],
  timeout: 300_000,
}, () => {
  test("waits for its end where it is not", async () => {
    using next = makeNextRelease({ migration: NOT_ADDITIVE });
    await using mirror = await setUp(next, { answered: 20 });
    await using sync = mirror.startOld("sync", "--json");
    await expect.poll(() => mirror.service.requests()).toBeGreaterThan(12);
    await using migration = mirror.startNext("migrate");
    await migration.waitFor("stderr", /trying again/);
    mirror.service.release();
    expect(await migration.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(next.tag) });
    expect(await sync.ended).toMatchObject({ code: 0 });
    const [row] = await mirror.read(
      (sql) => sql<{ isAfter: boolean }[]>`
        select applied_at >= finished_at as "isAfter" from sync.runs, sync.migrations where tag = ${next.tag}`,
    );
    expect(row).toEqual({ isAfter: true });
  });
});

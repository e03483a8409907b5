/** @module-tag long */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { explainPageFailure } from "../../../src/page/failures.ts";
import { failureReply } from "../../../src/serve/http/error-reply.ts";
import { createServedMirror } from "../../../src/serve/http/served-mirror.ts";
import { type CliResult, pageOf, runCli, startCli } from "../../support/cli.ts";
import { createFolder } from "../../support/folder.ts";
import { useService } from "../../support/service.ts";
import { createWorld } from "../../support/simulation.ts";
import { PASSWORD, POSTGRES_BIN, type Replicated, startReplicated } from "../../support/system-postgres.ts";

/** As a run leaves it that was killed before its answers were computed. */
const LEAVE_BEHIND = `
  insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
  values ('watch', 'succeeded', now(), now(), now(), 1, 'test')`;

describe.skipIf(POSTGRES_BIN === null)("a streaming replica (needs pg_basebackup)", () => {
  let servers: Replicated;
  const world = createWorld({ users: 10, projects: 10, versions: 30, files: 20, builds: 200 });
  const service = useService(world);
  const primary = () => ({ DATABASE_URL: servers.primaryUrl });

  beforeAll(async () => {
    servers = await startReplicated();
    const { code, stderr } = await sync();
    expect({ code, stderr }).toMatchObject({ code: 0 });
  });
  afterAll(() => servers?.[Symbol.asyncDispose]());

  const sync = () => run(["sync", "--full", "--base-url", service.url, "--rate", "0"], primary());
  const onReplica = (args: string[], env: Record<string, string> = {}) =>
    run(args, { DOCMIRROR_READ_URL: servers.replicaUrl, ...env });

  const serve = () => startCli("serve --http-port 0", { env: { DOCMIRROR_READ_URL: servers.replicaUrl } });

  async function run(args: string[], env: Record<string, string>): Promise<CliResult> {
    const result = await runCli(args, { env });
    expect(result.stdout + result.stderr).not.toContain(PASSWORD);
    return result;
  }

  async function caughtUp(): Promise<void> {
    const [row] = await servers.ask("primary", "select pg_current_wal_insert_lsn()::text as lsn");
    const look = `select pg_last_wal_replay_lsn() >= '${row?.lsn}' as there`;
    await expect.poll(() => servers.ask("replica", look)).toEqual([{ there: true }]);
  }

  async function freshness(): Promise<{ replica_lag_s: number; refreshed_at: string; lag_s: number }> {
    const { code, stdout, stderr } = await onReplica(["report", "freshness", "--json"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout).rows[0];
  }

  const replay = (what: "pause" | "resume") => servers.ask("replica", `select pg_wal_replay_${what}()`);
  const countBuilds = async (at: "primary" | "replica") =>
    Number((await servers.ask(at, "select count(*)::int as n from report.fact_builds"))[0]?.n);

  it("answers report and export as the primary does", async () => {
    expect(await run(["report", "runs"], primary())).toMatchObject({ code: 0 });
    await caughtUp();
    const ask = ["report", "fact_builds", "--format", "csv"];
    const [here, there] = [await onReplica(ask), await run(ask, primary())];
    expect(here).toEqual({ ...there, code: 0, stderr: "" });
    expect(here.stdout.split("\r\n").length).toBeGreaterThan(200);

    using folder = createFolder();
    const exported = await onReplica(
      ["export", "--out", folder.at("out"), "--format", "csv", "--json"],
      primary(),
    );
    expect(exported).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(exported.stdout).relations.fact_builds.rows).toBe(await countBuilds("primary"));
    expect(readdirSync(folder.at("out"))).toContain("_docmirror.json");
  });

  it("serves the page and the interface, and shows each run once it is replayed", async () => {
    await caughtUp();
    await using cli = serve();
    const url = await pageOf(cli);
    const total = async () => {
      const list = (await (await fetch(`${url}/api/v1/build/`)).json()) as { meta?: { total_count: number } };
      return list.meta?.total_count;
    };
    const before = await countBuilds("primary");
    await expect.poll(total).toBe(before);
    for (const path of ["/", "/report/runs.csv", "/api/v1/project/", "/openapi.json"])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
    const page = () => fetch(`${url}/`).then((reply) => reply.text());
    expect(await page()).not.toContain("This is a replica");

    world.triggerBuilds(7);
    world.advance(60_000);
    await replay("pause");
    expect(await sync()).toMatchObject({ code: 0 });
    expect(await total()).toBe(before);
    await expect.poll(page, { interval: 500 }).toMatch(/This is a replica, which is \d0\u00a0s behind/);
    await replay("resume");
    await expect.poll(total).toBeGreaterThanOrEqual(before + 7);
    await expect.poll(page).not.toContain("This is a replica");
    expect((await cli.stop()).stderr).not.toMatch(/"level":[56]0|could not open/);
  });

  it("shows its lag in freshness, which grows while replay is paused, and a quiet primary as no lag", async () => {
    await caughtUp();
    expect((await freshness()).replica_lag_s).toBe(0);
    const [quiet] = await servers.ask("primary", "select replica_lag_s from report.freshness");
    expect(quiet).toEqual({ replica_lag_s: null });

    await replay("pause");
    await servers.ask("primary", "create table public.something ()");
    await expect.poll(async () => (await freshness()).replica_lag_s).toBeGreaterThan(0);
    const { replica_lag_s: first } = await freshness();
    expect((await freshness()).replica_lag_s).toBeGreaterThan(first);
    await replay("resume");
    await caughtUp();
    expect((await freshness()).replica_lag_s).toBe(0);
  });

  it("has old answers refreshed at the primary that is named too, and shows the new ones at once", async () => {
    await servers.ask("primary", LEAVE_BEHIND);
    await caughtUp();
    const { refreshed_at: before } = await freshness();
    const { code, stdout, stderr } = await onReplica(["report", "freshness", "--json"], primary());
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout).refreshed_at > before).toBe(true);
  });

  it("says that it has not replayed the refresh yet, after it has waited, and answers", async () => {
    await servers.ask("primary", LEAVE_BEHIND);
    await caughtUp();
    await replay("pause");
    const { code, stdout, stderr } = await onReplica(["report", "runs", "--json"], primary());
    await replay("resume");
    expect(code).toBe(0);
    expect(stderr).toContain("the primary has newer ones, which the replica has not replayed yet");
    expect(JSON.parse(stdout).rows.length).toBeGreaterThan(1);
  });

  it("answers without its primary, and tells how old it is", async () => {
    await servers.ask("primary", LEAVE_BEHIND);
    await caughtUp();
    await servers.stop("primary");
    try {
      const { code, stdout, stderr } = await onReplica(["report", "freshness", "--json"], primary());
      expect(code).toBe(0);
      expect(stderr).toContain("the primary did not refresh them");
      expect(JSON.parse(stdout).rows[0].replica_lag_s).toBeGreaterThan(0);
    } finally {
      await servers.start("primary");
    }
  });

  it("that cancels a query to replay a change is asked once more, and then the reply is 503", async () => {
    await caughtUp();
    const mirror = createServedMirror({ ready: async () => servers.replicaUrl, log: silentLog });
    /** Reads builds, and holds the snapshot of the first `slow` tries until it is taken away. */
    const read = async (slow: number) => {
      let tries = 0;
      const done = mirror.snapshot(async (tx) => {
        await tx`select count(*) from mirror.builds`;
        if (tries++ < slow) {
          await servers.ask("primary", "update mirror.builds set record_hash = record_hash");
          await servers.ask("primary", "vacuum mirror.builds");
          await tx`select pg_sleep(9)`;
        }
        return tries;
      });
      return done.catch((error: unknown) => error);
    };
    try {
      await mirror.open();
      expect(await read(1)).toBe(2);
      const error = await read(9);
      expect(error).toMatchObject({ sqlstate: "40001" });
      const reply = failureReply(error, "/api/v1/build/", silentLog);
      expect([reply.status, await reply.json()]).toEqual([
        503,
        { error: "The database had to catch up with its primary. Try again." },
      ]);
      expect(explainPageFailure(error)).toMatchObject({ status: 503, title: "The database is catching up" });
      expect(await read(0)).toBe(1);
    } finally {
      await mirror.close();
    }
  });

  it("that is down is waited for by serve", async () => {
    await servers.stop("replica");
    try {
      await using cli = serve();
      const url = await pageOf(cli);
      await cli.waitFor("stderr", /the database is down; waiting for it/);
      expect((await fetch(`${url}/api/v1/build/`)).status).toBe(503);
      await servers.start("replica");
      await expect.poll(async () => (await fetch(`${url}/api/v1/build/`)).status).toBe(200);
      expect(cli.stderr()).not.toContain(PASSWORD);
    } finally {
      await servers.stop("replica");
      await servers.start("replica");
    }
  });
});

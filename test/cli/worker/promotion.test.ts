import { expect, it } from "vitest";
import { startSimulation } from "../../../src/simulate/service.ts";
import { createWorld } from "../../../src/simulate/world.ts";
import { runCli, startCli } from "../../support/cli.ts";
import { startReplicated } from "../../support/replica.ts";
import { POSTGRES_BIN } from "../../support/system-postgres.ts";

const SMALL = { users: 5, projects: 4, versions: 6, files: 5, builds: 30 };
const ROUNDS = "select count(*)::int as count from sync.runs where kind = 'watch' and status = 'succeeded'";

it.skipIf(POSTGRES_BIN === null).each(["primary", "replica"] as const)(
  "a sync and a worker whose URL names the %s first write to the primary, and to the standby once it is promoted",
  { tags: ["long"] },
  async (first) => {
    await using servers = await startReplicated();
    const hosts = [new URL(servers.primaryUrl).host, new URL(servers.replicaUrl).host];
    if (first === "replica") hosts.reverse();
    const { username, password, pathname } = new URL(servers.primaryUrl);
    const url = `postgres://${username}:${password}@${hosts.join(",")}${pathname}?target_session_attrs=read-write`;
    const service = await startSimulation({ world: createWorld(SMALL) });
    try {
      const from = ["--rate", "0", "--base-url", service.url, "--database-url", url];
      const synced = await runCli(["sync", ...from]);
      expect(synced, synced.stderr).toMatchObject({ code: 0 });
      expect(synced.stderr).not.toMatch(/is away|is down/);

      await using worker = startCli([
        ...["worker", "--http-port", "0", "--sync-cron", "0 0 29 2 *", "--watch-cron", "* * * * * *"],
        ...from,
      ]);
      const [, page = ""] = await worker.waitFor(
        "stderr",
        /"url":"([^"]+)","msg":"the report page and the API are up"/,
      );
      const rounds = async (at: "primary" | "replica") => (await servers.ask(at, ROUNDS))[0]?.count;
      await expect.poll(() => rounds("primary")).toBeGreaterThan(0);
      expect(worker.stderr()).not.toMatch(/is away|is down/);

      await servers.stop("primary");
      await worker.waitFor("stderr", /the database is (?:away|down)/);
      await servers.ask("replica", "select pg_promote()");
      const before = Number(await rounds("replica"));
      await expect.poll(() => rounds("replica")).toBeGreaterThan(before);
      await expect.poll(async () => (await fetch(`${page}/readyz`)).status).toBe(200);
      worker.signal("SIGTERM");
      expect((await worker.ended).code).toBe(143);
    } finally {
      await service.close();
    }
  },
);

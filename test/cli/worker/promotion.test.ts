/** @module-tag long */
import { expect, it } from "vitest";
import { connect } from "../../../src/store/connection/connect.ts";
import { pageOf, runCli, startCli } from "../../support/cli.ts";
import { holdRefreshes } from "../../support/leases.ts";
import { startService, TINY } from "../../support/service.ts";
import { POSTGRES_BIN, type Replicated, startReplicated } from "../../support/system-postgres.ts";

/** Refreshes of the reports take turns by it. */
const BY_SECONDS = ["--http-port", "0", "--sync-cron", "0 0 29 2 *", "--watch-cron", "* * * * * *"];
const ROUNDS =
  "select coalesce(max(id), 0)::int as count from sync.runs where kind = 'watch' and status = 'succeeded'";

const roundsAt = async (servers: Replicated, at: "primary" | "replica") =>
  Number((await servers.ask(at, ROUNDS))[0]?.count);

/** Both servers, in an order, and the one that takes writes is wanted. */
function urlOf({ primaryUrl, replicaUrl }: Replicated, first: "primary" | "replica"): string {
  const hosts = [new URL(primaryUrl).host, new URL(replicaUrl).host];
  if (first === "replica") hosts.reverse();
  const { username, password, pathname } = new URL(primaryUrl);
  return `postgres://${username}:${password}@${hosts.join(",")}${pathname}?target_session_attrs=read-write&connect_timeout=2`;
}

// A URL that names the primary first is one whose first host is down: test/store/connection.
it.skipIf(POSTGRES_BIN === null)(
  "a sync and a worker whose URL names the replica first write to the primary, then to the standby that is promoted",
  async () => {
    await using servers = await startReplicated();
    await using service = await startService(TINY);
    const from = ["--rate", "0", "--base-url", service.url, "--database-url", urlOf(servers, "replica")];
    const synced = await runCli(["sync", ...from]);
    expect(synced, synced.stderr).toMatchObject({ code: 0 });
    expect(synced.stderr).not.toMatch(/is away|is down/);

    await using worker = startCli(["worker", ...BY_SECONDS, ...from]);
    const page = await pageOf(worker);
    await expect.poll(() => roundsAt(servers, "primary")).toBeGreaterThan(0);
    expect(worker.stderr()).not.toMatch(/is away|is down/);

    await servers.stop("primary");
    await worker.waitFor("stderr", /the database is (?:away|down)/);
    await servers.ask("replica", "select pg_promote()");
    const before = await roundsAt(servers, "replica");
    await expect.poll(() => roundsAt(servers, "replica")).toBeGreaterThan(before);
    await expect.poll(async () => (await fetch(`${page}/readyz`)).status).toBe(200);
    expect((await worker.stop()).code).toBe(143);
  },
);

it.skipIf(POSTGRES_BIN === null)(
  "a worker lets go of a primary that fell silent in the middle of a refresh, once its standby is promoted",
  { tags: ["exhaustive"] },
  async () => {
    await using servers = await startReplicated();
    await using service = await startService(TINY);
    const refreshes = connect(servers.primaryUrl, { applicationName: "docmirror test", max: 1 });
    try {
      const from = ["--rate", "0", "--base-url", service.url, "--database-url", urlOf(servers, "primary")];
      await using worker = startCli(["worker", ...BY_SECONDS, ...from]);
      await expect.poll(() => roundsAt(servers, "primary").catch(() => 0)).toBeGreaterThan(0);
      await holdRefreshes(refreshes);
      const waits = "select from pg_locks where relation = 'rollup.state'::regclass and not granted";
      await expect.poll(() => servers.ask("primary", waits)).toHaveLength(1);

      servers.freeze("primary");
      await servers.ask("replica", "select pg_promote()");
      const before = await roundsAt(servers, "replica");
      await expect.poll(() => roundsAt(servers, "replica"), { timeout: 180_000 }).toBeGreaterThan(before);
      expect((await worker.stop()).code).toBe(143);
    } finally {
      await servers.stop("primary");
      await refreshes.end({ timeout: 1 });
    }
  },
);

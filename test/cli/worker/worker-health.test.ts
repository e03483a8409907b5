/** @module-tag long */
import { expect, test } from "vitest";
import { pageOf, startCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { linkDatabase } from "../../support/database-link.ts";
import { startService, TINY } from "../../support/service.ts";

test("a worker lives before its database answers, and is ready once it has made the mirror there", async () => {
  await using database = await createTestDatabase({ migrated: false });
  await using link = await linkDatabase(database.url);
  await link.cut();
  await using service = await startService(TINY);
  await using cli = startCli([
    ...["worker", "--rate", "0", "--http-port", "0", "--sync-cron", "0 0 29 2 *"],
    ...["--base-url", service.url, "--database-url", link.url],
  ]);
  const url = await pageOf(cli);
  const statusOf = async (path: string) => (await fetch(url + path)).status;
  await cli.waitFor("stderr", /the database is down; waiting for it/);
  expect([await statusOf("/livez"), await statusOf("/readyz"), await statusOf("/status.json")]).toEqual([
    200, 503, 503,
  ]);
  await link.restore();
  await expect.poll(() => statusOf("/readyz")).toBe(200);
  await cli.waitFor("stderr", /sync succeeded/);
  const readDocument = async () => (await fetch(`${url}/status.json`)).json();
  await expect.poll(readDocument).toMatchObject({
    stale: false,
    runs: [{ kind: "full", status: "succeeded" }],
    leader: { pid: cli.child.pid, term: 1 },
    next_runs: [{ job: "sync" }, { job: "watch" }],
  });

  link.freeze();
  await expect.poll(() => statusOf("/readyz")).toBe(503);
  expect(await statusOf("/livez")).toBe(200);
  await link.restore();
  await expect.poll(() => statusOf("/readyz")).toBe(200);
  expect((await cli.stop()).code).toBe(143);
});

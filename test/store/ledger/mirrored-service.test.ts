import { describe, expect, test } from "vitest";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { moveService } from "../../../src/store/ledger/mirrored-service.ts";
import { runCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { PLANTED_SECRET } from "../../support/planted-secret.ts";
import { startQuickWorld } from "../../support/quick-world.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";
import { syncOnce, watchOnce } from "../../support/sync.ts";

const TINY = { users: 3, projects: 2, versions: 4, files: 3, builds: 30 };

describe("a mirror is of one service", () => {
  test("which its first sync notes, with what the root listing names", async () => {
    await using quick = await startQuickWorld(TINY);
    await quick.sync();
    const found = await quick.sql`select base_url, resources from sync.service`;
    const base_url = quick.baseUrl.href.replace(/\/$/, "");
    expect(found).toEqual([{ base_url, resources: RESOURCES.toSorted() }]);
  });

  test("and refuses another one before anything is asked or written", { tags: ["long"] }, async () => {
    await using quick = await startQuickWorld(TINY);
    await quick.sync();
    await using other = await startScriptedServer([{ body: {} }]);
    const refusal = {
      name: "ConfigError",
      exitCode: 2,
      message: expect.stringMatching(/^this mirror is of http:.*, and DOCMIRROR_BASE_URL is http:/),
      hint: expect.stringContaining("docmirror migrate --service http://"),
    };
    await expect(syncOnce(quick.databaseUrl, other.url)).rejects.toMatchObject(refusal);
    await expect(watchOnce(quick.databaseUrl, other.url)).rejects.toMatchObject(refusal);
    const DOCMIRROR_BASE_URL = other.url.href;
    const env = { DATABASE_URL: quick.databaseUrl, DOCMIRROR_BASE_URL, DOCMIRROR_HTTP_PORT: "0" };
    for (const command of ["sync", "watch --once", "quarantine --retry", "worker"]) {
      const stderr = expect.stringContaining("this mirror is of http:");
      expect([command, await runCli(command, { env })]).toMatchObject([command, { code: 2, stderr }]);
    }
    expect(other.requests).toEqual([]);
    expect(await quick.sql`select id from sync.runs`).toHaveLength(1);
  });

  test("the path and the case of the host decide too, a closing slash and credentials do not", {
    tags: ["long"],
  }, async () => {
    await using quick = await startQuickWorld(TINY);
    await quick.sync();
    const same = Object.assign(new URL(quick.baseUrl), { username: "me", password: "secret" });
    expect((await syncOnce(quick.databaseUrl, same)).summary.status).toBe("succeeded");
    const elsewhere = new URL("docs", quick.baseUrl);
    await expect(syncOnce(quick.databaseUrl, elsewhere)).rejects.toThrow("/docs");
    expect(JSON.stringify(await quick.sql`select base_url from sync.service`)).not.toContain("secret");
  });

  test("which may have moved, when the user says so", { tags: ["long"] }, async () => {
    await using quick = await startQuickWorld(TINY);
    await quick.sync();
    const env = { DATABASE_URL: quick.databaseUrl };
    const moved = await runCli(["migrate", "--service", "https://new.example.org/docs/"], { env });
    expect(moved.code).toBe(0);
    expect(moved.stdout).toMatch(/mirror is of https:\/\/new.example.org\/docs now, no longer of http:.*\n$/);
    await expect(quick.sync()).rejects.toThrow("this mirror is of https://new.example.org/docs");
    await moveService(quick.sql, quick.baseUrl, new Date().toISOString());
    expect((await quick.sync()).summary.status).toBe("succeeded");
    // `runCli` looks for the planted secret.
    const secret = `https://me:${PLANTED_SECRET}@x.org/api/v1/`;
    const wrong = await runCli(["migrate", "--service", secret], { env });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("ends in the API's own path") });
  });

  test("is not noted where the root listing never came", async () => {
    await using database = await createTestDatabase();
    await using server = await startScriptedServer([{ status: 404 }]);
    await syncOnce(database.url, server.url, { settings: { retries: 0 } });
    expect(await database.sql`select from sync.service`).toEqual([]);
  });
});

test("a resource that docmirror does not know is a warning and a row of drift, once", {
  tags: ["long"],
}, async () => {
  const extra = { comment: { list_endpoint: "/api/v1/comment/", schema: "/api/v1/comment/schema/" } };
  await using quick = await startQuickWorld(TINY, async (request, next) => {
    if (new URL(request.url).pathname !== "/api/v1/") return next();
    return Response.json({ ...((await (await next()).json()) as object), ...extra });
  });
  const warnings = ["the service has a resource 'comment' that docmirror does not know; it is not mirrored"];
  for (let night = 0; night < 2; night++)
    expect((await quick.sync()).summary).toMatchObject({ status: "succeeded", warnings });
  const drift = await quick.sql`select kind, detail from sync.drift where resource = 'comment'`;
  expect(drift).toEqual([{ kind: "appeared", detail: "a resource in the root listing" }]);
});

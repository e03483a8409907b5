import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSimulation } from "../../../src/simulate/service.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { createWorld } from "../../../src/simulate/world.ts";
import { connect, withSql } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { startQuickWorld } from "../../support/quick-world.ts";
import { syncOnce } from "../../support/sync.ts";

describe("a page with a record that cannot be stored", () => {
  let database: TestDatabase;
  let sql: Sql;
  let isBroken = true;
  const world = createWorld({ users: 30, projects: 3, versions: 3, files: 0, builds: 0, rates: QUIET });
  const service = startSimulation({
    world,
    async intercept(request, next) {
      const reply = await next();
      if (!isBroken || !request.url.includes("/user/?")) return reply;
      const page = (await reply.json()) as { objects: Record<string, unknown>[] };
      delete page.objects[0]?.id;
      return Response.json(page);
    },
  });

  beforeAll(async () => {
    database = await createTestDatabase();
    sql = connect(database.url, { applicationName: "docmirror test" });
  });
  afterAll(async () => {
    await sql.end({ timeout: 5 });
    await database.dispose();
    await (await service).close();
  });

  test("is read again every night, partial each time, until the record can be stored", async () => {
    const url = new URL((await service).url);
    for (let night = 1; night <= 2; night++) {
      const { summary } = await syncOnce(database.url, url, { kind: "full", resources: ["user"] });
      expect(summary.status).toBe("partial");
      expect(summary.resources.user).toMatchObject({ walk: "not_whole", quarantined: 1, records: 29 });
    }
    isBroken = false;
    const { summary } = await syncOnce(database.url, url, { kind: "full", resources: ["user"] });
    expect(summary).toMatchObject({ status: "succeeded", resources: { user: { inserted: 1, records: 30 } } });
    expect(await sql`select 1 from sync.quarantine`).toHaveLength(1);
  });
});

test("a record in quarantine is resolved by the run in which it comes well", async () => {
  const depth = 50_000;
  let isBroken = true;
  await using quick = await startQuickWorld({ rates: QUIET }, async (request, next) => {
    const reply = await next();
    if (!isBroken || !/\/user\/\?(?!.*offset)/.test(request.url)) return reply;
    const text = await reply.text();
    const deep = `{"deep":${"[".repeat(depth)}${"]".repeat(depth)},`;
    return new Response(text.replace(/"objects": ?\[\{/, `"objects":[${deep}`), {
      headers: { "content-type": "application/json" },
    });
  });
  const night = () => quick.sync({ kind: "full", resources: ["user"] });
  expect((await night()).summary.resources.user).toMatchObject({ walk: "whole", quarantined: 1 });
  const unresolved = () =>
    withSql(
      quick.databaseUrl,
      { applicationName: "docmirror test", max: 1 },
      (sql) => sql`select record_id from sync.quarantine where resolved_at is null`,
    );
  expect((await unresolved()).length).toBeGreaterThan(0);
  isBroken = false;
  quick.world.advance(1000);
  expect((await night()).summary.status).toBe("succeeded");
  expect(await unresolved()).toEqual([]);
});

test("a detail that cannot be stored makes its run partial, and the run says so", async () => {
  let isBroken = false;
  await using quick = await startQuickWorld(
    { users: 3, projects: 4, versions: 6, files: 3, builds: 150, rates: QUIET, stuckShare: 0 },
    async (request, next) => {
      const reply = await next();
      if (!isBroken || !/\/build\/\d+\/$/.test(new URL(request.url).pathname)) return reply;
      const text = (await reply.text()).replace("{", '{"length": NaN, ');
      return new Response(text, { headers: { "content-type": "application/json" } });
    },
  );
  await quick.sync({ kind: "full" });
  quick.world.advance(60_000);
  quick.world.triggerBuilds(30);
  await quick.watch();
  quick.world.advance(600_000);
  isBroken = true;
  const { summary } = await quick.watch();
  const rows = await withSql(
    quick.databaseUrl,
    { applicationName: "docmirror test", max: 1 },
    (sql) => sql<{ reason: string; payload: string; request: string }[]>`
      select reason, payload, request from sync.quarantine where resolved_at is null`,
  );
  expect(rows.length).toBeGreaterThan(5);
  for (const { reason, payload, request } of rows) {
    expect(reason).toBe("the record holds NaN, a number that JSON does not have");
    expect(payload).toMatch(/^\{"length":NaN,"/);
    expect(request).toMatch(/^\/api\/v1\/build\/\d+\/$/);
  }
  expect(summary).toMatchObject({
    status: "partial",
    warnings: [
      `${rows.length} records that were asked for one by one could not be stored; see \`docmirror quarantine\``,
    ],
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Sql, withSql } from "../../src/db/connect.ts";
import { startSimulation } from "../../src/simulate/service.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { createWorld } from "../../src/simulate/world.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startQuickWorld } from "../support/quick-world.ts";
import { syncOnce } from "../support/sync.ts";

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

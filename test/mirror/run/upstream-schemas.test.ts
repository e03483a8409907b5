import { describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { findListFacts } from "../../../src/mirror/lists/plan.ts";
import { recordUpstreamSchemas } from "../../../src/mirror/run/upstream-schemas.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { withStoreErrors } from "../../../src/store/connection/store-errors.ts";
import { createTestClient } from "../../support/client.ts";
import { setUpLoading } from "../../support/loading.ts";
import { startQuickWorld } from "../../support/quick-world.ts";
import { type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";

const root = { build: { list_endpoint: "/api/v1/build/", schema: "/api/v1/build/schema/" } };
const schema = (fields: Record<string, string>): ScriptedReply => ({
  body: {
    fields: Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, { type }])),
    time: Math.random(),
  },
});

async function setUp() {
  const loading = await setUpLoading();
  let run = 0;
  return Object.assign(loading, {
    async record(reply: ScriptedReply) {
      run += 1;
      await using server = await startScriptedServer([reply]);
      await using client = createTestClient(server.url, { retries: 0 });
      const facts = { runId: run, startedAt: new Date(`2024-05-1${run}T02:00:00.000Z`) };
      const parts = { sql: loading.sql, client, log: silentLog, patience: withStoreErrors };
      await recordUpstreamSchemas({ ...parts, ...facts }, root, await findListFacts(loading.sql));
    },
    drift: () =>
      loading.sql`select run_id, field, kind, detail from sync.drift where resource = 'build' order by run_id, field`.values(),
    kept: () => loading.sql`select run_id from sync.upstream_schemas order by run_id`,
  });
}

describe("the schema that upstream tells", () => {
  test("is kept once while its fields are the same, without any drift", async () => {
    await using schemas = await setUp();
    await schemas.record(schema({ id: "string", state: "string" }));
    await schemas.record(schema({ state: "string", id: "string" }));
    expect(await schemas.kept()).toEqual([{ run_id: 1 }]);
    expect(await schemas.drift()).toEqual([]);
  });

  test("drifts by fields that appear, vanish and change their type, and back again", async () => {
    await using schemas = await setUp();
    await schemas.record(schema({ id: "string", setup: "string" }));
    await schemas.record(schema({ id: "integer", commit: "string" }));
    await schemas.record(schema({ id: "string", setup: "string" }));
    const text = "type string, in the schema";
    expect([...(await schemas.drift())]).toEqual([
      [2, "commit", "appeared", text],
      [2, "id", "type_changed", "from string to integer, in the schema"],
      [2, "setup", "vanished", text],
      [3, "commit", "vanished", text],
      [3, "id", "type_changed", "from integer to string, in the schema"],
      [3, "setup", "appeared", text],
    ]);
    await schemas.record(schema({ id: "string", setup: "string" }));
    expect(await schemas.drift()).toHaveLength(6);
  });

  test.each<[string, ScriptedReply]>([
    ["none", { status: 404, body: "" }],
    ["HTML", { body: "<html>" }],
    ["another kind of JSON", { body: ["\u0000"] }],
    ["null", { body: "null" }],
  ])("may be %s, and costs nothing", async (_what, reply) => {
    await using schemas = await setUp();
    await schemas.record(reply);
    expect(await schemas.drift()).toEqual([]);
  });
});

test("a night's requests are counted by what they ask for, and schemas are asked for once a day", {
  tags: ["long"],
}, async () => {
  await using quick = await startQuickWorld({ rates: QUIET, builds: 90 });
  const kindOf = (path: string) => {
    const [resource = "", id = ""] = path.split("/").slice(3);
    if (resource === "") return "root";
    return id === "schema" ? "schemas" : id === "" ? "pages" : "details";
  };
  const counted = () => {
    const kinds: Record<string, number> = {};
    for (const [path, requests] of quick.simulation.requests().byPath)
      kinds[kindOf(path)] = (kinds[kindOf(path)] ?? 0) + requests;
    return kinds;
  };
  const schemas: number[] = [];
  let before: Record<string, number> = {};
  for (const hours of [0, 1, 24, 19]) {
    quick.world.advance(hours * 3_600_000);
    const { asked_for: asked, requests } = (await quick.sync({ kind: "full" })).summary;
    // The rest are pages. One that was asked for ahead in vain may never have reached the service.
    const { references, details, pages: _, ...others } = asked;
    const now = counted();
    for (const [kind, count] of Object.entries({ ...others, details: details + references }))
      expect([kind, count]).toEqual([kind, (now[kind] ?? 0) - (before[kind] ?? 0)]);
    expect(references > 0).toBe(hours === 0);
    expect(Object.values(asked).reduce((sum, count) => sum + count)).toBe(requests);
    schemas.push(asked.schemas);
    before = now;
  }
  expect(schemas).toEqual([5, 0, 5, 0]);
});

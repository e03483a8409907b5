import { describe, expect } from "vitest";
import { quarantineHole, resolveHoles, resolveSuperseded } from "../../../src/mirror/load/quarantine.ts";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import { type Loading, setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { wholeRecord, wireBuild, wireUser } from "../../support/wire-records.ts";

describe("quarantine", () => {
  test("keeps the same record once, on however many nights it is shown", async ({ loading }) => {
    const nameless = { username: "nobody", first_name: "No", last_name: "Body" };
    const deep = JSON.parse(`{"deep": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`);
    for (let night = 1; night <= 3; night++) {
      expect(await loading.load("user", [nameless, null, deep, nameless])).toMatchObject({ quarantined: 4 });
      loading.nextRun();
    }
    const aside = await loading.sql`
      select run_id, coalesce(payload->>'username', left(payload::text, 8)) as what, resolved_at
      from sync.quarantine order by id`;
    const kept = ["nobody", "null", '"{\\"deep'];
    expect(aside).toEqual(kept.map((what) => ({ run_id: 1, what, resolved_at: null })));
  });

  test("takes a thousand records a page as it takes one", { tags: ["long"] }, async ({ loading }) => {
    for (let page = 0; page < 10; page++) {
      const records = Array.from({ length: 1000 }, (_, at) => ({ username: `nobody ${page} ${at}` }));
      expect(await loading.load("user", records)).toMatchObject({ quarantined: 1000 });
    }
    expect(await loading.sql`select count(*) as count from sync.quarantine`).toEqual([{ count: 10_000 }]);
  });

  test("keeps another payload of the same record beside the first", async ({ loading }) => {
    await loading.load(
      "user",
      [wireUser("1"), wireUser("2")].map((user) => ({ ...user, id: "" })),
    );
    expect(await loading.sql`select 1 from sync.quarantine`).toHaveLength(2);
  });
});

describe("a hole in a list", () => {
  const hole = {
    resource: "build" as const,
    runId: 1,
    request: "/api/v1/build/?limit=1&offset=41",
    offset: 41,
    reason: "GET answered 500\u0000",
    observedAt: "2024-05-15T12:00:00.000Z",
  };

  test("is noted once for each place, and anew when it was closed", async ({ loading }) => {
    const { sql } = loading;
    for (const offset of [41, 42, 41]) await quarantineHole(sql, { ...hole, offset });
    await quarantineHole(sql, { ...hole, resource: "file" });
    expect(await resolveHoles(sql, "build", "2024-05-16T00:00:00Z")).toBe(2);
    expect(await resolveHoles(sql, "build", "2024-05-17T00:00:00Z")).toBe(0);
    await quarantineHole(sql, { ...hole, runId: 3 });
    const aside = await sql`
      select run_id, resource, record_id, payload, request, reason, list_offset, resolved_at is not null as resolved
      from sync.quarantine order by id`;
    expect(aside).toMatchObject([
      { resource: "build", list_offset: 41, resolved: true, reason: "GET answered 500\uFFFD" },
      { resource: "build", list_offset: 42, resolved: true },
      { resource: "file", list_offset: 41, resolved: false },
      { run_id: 3, resource: "build", record_id: null, payload: null, list_offset: 41, resolved: false },
    ]);
  });

  test("is no record: closing holes leaves those in quarantine", async ({ loading }) => {
    await loading.load("user", [{ username: "nobody" }]);
    expect(await resolveHoles(loading.sql, "user", "2024-05-16T00:00:00Z")).toBe(0);
  });
});

const AT = "2024-06-01T00:00:00Z";
const MONDAY = "2024-05-13T02:00:00.000Z";
const TUESDAY = "2024-05-14T02:00:00.000Z";
const WEDNESDAY = "2024-05-15T02:00:00.000Z";

async function putAside({ sql }: Loading, resource: Resource, id: string | null): Promise<void> {
  await sql`
    insert into sync.quarantine (run_id, resource, record_id, reason, payload, created_at)
    values (1, ${resource}, ${id}, 'odd', '{}', ${TUESDAY})`;
}

async function remember({ sql }: Loading, id: string, loadedAt: string): Promise<void> {
  await sql`
    insert into sync.pages (resource, seq, request, body_hash, meta, ids, loaded_at, run_id, normalizer_version)
    values ('user', 0, '/', '\\xab', '{}', ${["8", id]}, ${loadedAt}, 1, 1)`;
}

describe("a record in quarantine", () => {
  test("is resolved when its row was written later, whatever resource it is of", async ({ loading }) => {
    for (const resource of RESOURCES) {
      for (const id of ["1", "2"]) await putAside(loading, resource, id);
      await loading.load(resource, [wholeRecord(resource, "1"), wholeRecord(resource, "3")], {
        at: WEDNESDAY,
      });
    }
    expect(await resolveSuperseded(loading.sql, AT)).toBe(RESOURCES.length);
    expect(await resolveSuperseded(loading.sql, AT)).toBe(0);
    const left = await loading.sql`select resource, record_id from sync.quarantine where resolved_at is null`;
    expect(left).toEqual(RESOURCES.map((resource) => ({ resource, record_id: "2" })));
  });

  test("is resolved when its record was deleted later", async ({ loading }) => {
    await loading.load("user", [wireUser("1")], { at: MONDAY });
    await putAside(loading, "user", "1");
    await loading.sql`update mirror.users set deleted_at = ${WEDNESDAY}, changed_at = ${WEDNESDAY}`;
    expect(await resolveSuperseded(loading.sql, AT)).toBe(1);
  });

  test.each([
    ["on Monday", MONDAY],
    ["in the same reply", TUESDAY],
  ])("stays when its row was written %s", async (_when, at) => {
    await using loading = await setUpLoading();
    await loading.load("user", [wireUser("1")], { at });
    await putAside(loading, "user", "1");
    expect(await resolveSuperseded(loading.sql, AT)).toBe(0);
  });

  test("is resolved by a later page that shows it, unless that page was bad", async ({ loading }) => {
    await loading.load("user", [wireUser("1")], { at: MONDAY });
    await putAside(loading, "user", "1");
    await remember(loading, "1", MONDAY);
    expect(await resolveSuperseded(loading.sql, AT)).toBe(0);
    await loading.sql`update sync.pages set loaded_at = ${WEDNESDAY}, body_hash = ''`;
    expect(await resolveSuperseded(loading.sql, AT)).toBe(0);
    await loading.sql`update sync.pages set body_hash = '\\xab', resource = 'build'`;
    expect(await resolveSuperseded(loading.sql, AT)).toBe(0);
    await loading.sql`update sync.pages set resource = 'user'`;
    expect(await resolveSuperseded(loading.sql, AT)).toBe(1);
  });

  test("without an id, or of another resource than the one asked for, stays", async ({ loading }) => {
    await putAside(loading, "user", null);
    await putAside(loading, "build", "1");
    await loading.load("build", [wireBuild("1")], { at: WEDNESDAY });
    expect(await resolveSuperseded(loading.sql, AT, "user")).toBe(0);
    expect(await resolveSuperseded(loading.sql, AT, "build")).toBe(1);
  });
});

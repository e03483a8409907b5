import { describe, expect, test } from "vitest";
import { quarantineHole, resolveHoles } from "../../../src/mirror/load/quarantine.ts";
import { setUpLoading } from "../../support/loading.ts";
import { wireUser } from "../../support/wire-records.ts";

describe("quarantine", () => {
  test("keeps the same record once, however often and on however many nights it is shown", async () => {
    await using loading = await setUpLoading();
    const nameless = { username: "nobody", first_name: "No", last_name: "Body" };
    const deep = JSON.parse(`{"deep": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`);
    for (let night = 1; night <= 3; night++) {
      const page = [nameless, null, deep, nameless];
      expect(await loading.load("user", page)).toMatchObject({ quarantined: 4 });
      loading.nextRun();
    }
    expect(
      await loading.sql`
        select run_id, coalesce(payload->>'username', left(payload::text, 8)) as what, resolved_at
        from sync.quarantine order by id`,
    ).toEqual([
      { run_id: 1, what: "nobody", resolved_at: null },
      { run_id: 1, what: "null", resolved_at: null },
      { run_id: 1, what: '"{\\"deep', resolved_at: null },
    ]);
  });

  test("takes a thousand records a page as it takes one, however many are there", {
    timeout: 20_000,
  }, async () => {
    await using loading = await setUpLoading();
    for (let page = 0; page < 10; page++) {
      const records = Array.from({ length: 1000 }, (_, at) => ({ username: `nobody ${page} ${at}` }));
      expect(await loading.load("user", records)).toMatchObject({ quarantined: 1000 });
    }
    expect(await loading.sql`select count(*) as count from sync.quarantine`).toEqual([{ count: 10_000 }]);
  });

  test("keeps another payload of the same record beside the first", async () => {
    await using loading = await setUpLoading();
    await loading.load("user", [
      { ...wireUser("1"), id: "" },
      { ...wireUser("2"), id: "" },
    ]);
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

  test("is noted once for each place, and anew when it was closed", async () => {
    await using loading = await setUpLoading();
    const { sql } = loading;
    for (const offset of [41, 42, 41]) await quarantineHole(sql, { ...hole, offset });
    await quarantineHole(sql, { ...hole, resource: "file" });
    expect(await resolveHoles(sql, "build", "2024-05-16T00:00:00Z")).toBe(2);
    expect(await resolveHoles(sql, "build", "2024-05-17T00:00:00Z")).toBe(0);
    await quarantineHole(sql, { ...hole, runId: 3 });
    expect(
      await sql`
        select run_id, resource, record_id, payload, request, reason, list_offset, resolved_at is not null as resolved
        from sync.quarantine order by id`,
    ).toMatchObject([
      { resource: "build", list_offset: 41, resolved: true, reason: "GET answered 500\uFFFD" },
      { resource: "build", list_offset: 42, resolved: true },
      { resource: "file", list_offset: 41, resolved: false },
      { run_id: 3, resource: "build", record_id: null, payload: null, list_offset: 41, resolved: false },
    ]);
  });

  test("is no record: closing holes leaves those in quarantine", async () => {
    await using loading = await setUpLoading();
    await loading.load("user", [{ username: "nobody" }]);
    expect(await resolveHoles(loading.sql, "user", "2024-05-16T00:00:00Z")).toBe(0);
  });
});

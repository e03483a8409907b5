import { describe, expect, test } from "vitest";
import { resolveSuperseded } from "../../../src/mirror/load/resolve-superseded.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { wireBuild, wireUser } from "../../support/wire-records.ts";

const AT = "2024-06-01T00:00:00Z";
const MONDAY = "2024-05-13T02:00:00.000Z";
const TUESDAY = "2024-05-14T02:00:00.000Z";
const WEDNESDAY = "2024-05-15T02:00:00.000Z";

/** Puts a record into quarantine, as seen on Tuesday. */
async function putAside({ sql }: Loading, resource: Resource, id: string | null): Promise<void> {
  await sql`
    insert into sync.quarantine (run_id, resource, record_id, reason, payload, created_at)
    values (1, ${resource}, ${id}, 'odd', '{}', ${TUESDAY})`;
}

async function remember({ sql }: Loading, id: string, loadedAt: string, hash = "\\xab"): Promise<void> {
  await sql`
    insert into sync.pages (resource, seq, request, body_hash, meta, ids, loaded_at)
    values ('user', 0, '/', ${hash}, '{}', ${["8", id]}, ${loadedAt})`;
}

describe("a record in quarantine", () => {
  test("is resolved when its row was written later, whatever resource it is of", async () => {
    await using loading = await setUpLoading();
    await putAside(loading, "user", "1");
    await putAside(loading, "build", "1");
    await putAside(loading, "build", "2");
    await loading.load("user", [wireUser("1"), wireUser("2")], { at: WEDNESDAY });
    await loading.load("build", [wireBuild("1")], { at: WEDNESDAY });
    expect(await resolveSuperseded(loading.sql, AT)).toBe(2);
    expect(await resolveSuperseded(loading.sql, AT)).toBe(0);
    expect(
      await loading.sql`select resource, record_id from sync.quarantine where resolved_at is null`,
    ).toEqual([{ resource: "build", record_id: "2" }]);
  });

  test("is resolved when its record was deleted later", async () => {
    await using loading = await setUpLoading();
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

  test("is resolved by a later page that shows it as it is here, unless something on that page was bad", async () => {
    await using loading = await setUpLoading();
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

  test("without an id, or of another resource than the one asked for, stays", async () => {
    await using loading = await setUpLoading();
    await putAside(loading, "user", null);
    await putAside(loading, "build", "1");
    await loading.load("build", [wireBuild("1")], { at: WEDNESDAY });
    expect(await resolveSuperseded(loading.sql, AT, "user")).toBe(0);
    expect(await resolveSuperseded(loading.sql, AT, "build")).toBe(1);
  });
});

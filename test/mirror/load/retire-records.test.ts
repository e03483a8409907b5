import { describe, expect } from "vitest";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import { type Loading, setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { fingerprint } from "../../support/mirror-rows.ts";
import {
  wholeRecord,
  wireBuild,
  wireFile,
  wireProject,
  wireUser,
  wireVersion,
} from "../../support/wire-records.ts";

const AT = "2024-05-16T03:00:00.000Z";
const BACK = "2024-05-17T03:00:00.000Z";

const gone = (resource: Resource, id: string, at = AT) => {
  return { resource, id, askedAt: at, observedAt: at, request: null };
};

async function retire({ sql, loader }: Loading, resource: Resource, ids: string[]) {
  await sql`
    insert into sync.missing_records (resource, record_id, run_id, noticed_at)
    select ${resource}, id, 1, ${AT}::timestamptz from unnest(${ids}::text[]) as missing (id)`;
  return (await loader.retire(ids.map((id) => gone(resource, id)))).counts;
}

const rows = ({ sql }: Loading, table: string) =>
  sql.unsafe(`select id, deleted_at, changed_at from mirror.${table} order by id`);
const changes = ({ sql }: Loading) => sql`
  select resource, record_id, kind, run_id, observed_at, before, after from mirror.changes order by id`;

describe("a record that is gone", () => {
  test("keeps its row, with when that was seen, and a row in the changes", async ({ loading }) => {
    await loading.load("user", [wireUser("1"), wireUser("2")]);
    await loading.load("build", [wireBuild("1")]);
    expect(await retire(loading, "user", ["1"])).toEqual({ user: 1 });
    expect(await retire(loading, "build", ["1"])).toEqual({ build: 1 });
    const at = "2024-05-16 03:00:00+00";
    expect(await rows(loading, "users")).toMatchObject([
      { id: "1", deleted_at: at, changed_at: at },
      { id: "2", deleted_at: null },
    ]);
    expect(await rows(loading, "builds")).toMatchObject([{ id: "1", deleted_at: at }]);
    const change = { record_id: "1", kind: "deleted", run_id: 1, observed_at: at, before: null, after: null };
    expect(await changes(loading)).toEqual([
      { resource: "user", ...change },
      { resource: "build", ...change },
    ]);
    expect(await loading.sql`select 1 from sync.missing_records`).toHaveLength(0);
  });

  test("vanishes before that when it is a build that was open", async ({ loading }) => {
    const [open, done] = [wireBuild("1", { state: "building" }), wireBuild("2", { state: "finished" })];
    await loading.load("build", [open, done]);
    expect(await retire(loading, "build", ["1", "2"])).toEqual({ build: 2 });
    const second = await loading.sql`
      select build_id, from_state as "from", to_state as "to", not_after from mirror.build_transitions where seq = 2`;
    const not_after = "2024-05-16 03:00:00+00";
    expect(second).toEqual([{ build_id: "1", from: "building", to: "vanished", not_after }]);
    expect(await loading.sql`select 1 from sync.open_builds`).toEqual([]);
  });

  test("is restored when the same run sees it again, unchanged", async ({ loading }) => {
    await loading.load("user", [wireUser("1")]);
    await retire(loading, "user", ["1"]);
    expect(await loading.load("user", [wireUser("1")], { at: BACK })).toMatchObject({ restored: 1 });
    expect(await rows(loading, "users")).toMatchObject([{ id: "1", deleted_at: null }]);
  });

  test("is not written again when retired again, nor is one that no walk missed", async ({ loading }) => {
    await loading.load("user", [wireUser("1"), wireUser("2")]);
    await retire(loading, "user", ["1"]);
    const before = await fingerprint(loading.sql);
    expect((await loading.loader.retire([gone("user", "2", BACK)])).counts).toEqual({});
    expect(await retire(loading, "user", ["1", "unknown"])).toEqual({});
    expect(await loading.loader.retire([])).toEqual({ counts: {}, transitions: 0 });
    expect(await fingerprint(loading.sql)).toEqual(before);
  });

  test("stays alive when what goes into the same transaction fails", async ({ loading }) => {
    await loading.load("user", [wireUser("1")]);
    await retire(loading, "user", []);
    await loading.sql`insert into sync.missing_records values ('user', '1', 1, now(), null)`;
    const failing = loading.loader.retire([gone("user", "1")], async () => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await rows(loading, "users")).toMatchObject([{ deleted_at: null }]);
    expect(await loading.sql`select 1 from sync.missing_records`).toHaveLength(1);
    expect(await changes(loading)).toEqual([]);
  });

  test("goes on being pointed to when it is a project", async ({ loading }) => {
    await loading.load("project", [wireProject("1", { users: ["/api/v1/user/1/"] })]);
    await loading.load("version", [wireVersion("7", wireProject("1"))]);
    await loading.load("build", [wireBuild("8", { project: "/api/v1/project/1/" })]);
    await retire(loading, "project", ["1"]);
    await loading.load("file", [wireFile("9", wireProject("1"))], { at: BACK });
    const [keys] = await loading.sql`
      select (select project_id from mirror.versions) as version, (select project_id from mirror.builds) as build,
        (select project_id from mirror.files) as file, (select project_id from mirror.project_users) as administrator`;
    expect(keys).toEqual({ version: "1", build: "1", file: "1", administrator: "1" });
  });
});

describe("a record that was gone and is shown again", () => {
  test("is in the changes with both, though nothing of it changed, whatever resource it is of", async ({
    loading,
  }) => {
    for (const resource of RESOURCES) {
      await loading.sql`truncate mirror.changes`;
      await loading.load(resource, [wholeRecord(resource, "1")]);
      await retire(loading, resource, ["1"]);
      loading.nextRun();
      await loading.load(resource, [wholeRecord(resource, "1")], { at: BACK });
      const both = { resource, record_id: "1", before: null, after: null };
      expect(await changes(loading)).toMatchObject([
        { ...both, kind: "deleted", observed_at: "2024-05-16 03:00:00+00" },
        { ...both, kind: "restored", observed_at: "2024-05-17 03:00:00+00" },
      ]);
    }
  });

  test.each([
    ["by a list, as it was", "list", {}, { unchanged: 1, updated: 0 }],
    ["by its detail, as it was", "detail", {}, { unchanged: 1, updated: 0 }],
    ["with other content", "list", { first_name: "Grace" }, { updated: 1 }],
  ] as const)("%s is restored", async (_, source, over, counts) => {
    await using loading = await setUpLoading();
    await loading.load("user", [wireUser("1")]);
    await retire(loading, "user", ["1"]);
    loading.nextRun();
    expect(await loading.load("user", [wireUser("1", over)], { source, at: BACK })).toMatchObject({
      restored: 1,
      ...counts,
    });
    const changed_at = "2024-05-17 03:00:00+00";
    expect(await rows(loading, "users")).toEqual([{ id: "1", deleted_at: null, changed_at }]);
    const kinds = ["deleted", ...("first_name" in over ? ["updated"] : []), "restored"];
    expect((await changes(loading)).map(({ kind }) => kind)).toEqual(kinds);
    const again = await loading.load("user", [wireUser("1", over)], { source });
    expect(again).toMatchObject({ restored: 0, unchanged: 1 });
  });

  test.each([
    ["as it was", {}, "Project 1"],
    ["newer", { modified_date: "2025-01-01T00:00:00", name: "New" }, "New"],
  ])("but only embedded in another, %s, stays deleted", async (_, over, name) => {
    await using loading = await setUpLoading();
    await loading.load("project", [wireProject("1")]);
    await retire(loading, "project", ["1"]);
    loading.nextRun();
    await loading.load("version", [wireVersion("7", wireProject("1", over))], { at: BACK });
    const stored = await loading.sql`select name, deleted_at is not null as deleted from mirror.projects`;
    expect(stored).toEqual([{ name, deleted: true }]);
    expect((await changes(loading)).map(({ kind }) => kind)).not.toContain("restored");
  });
});

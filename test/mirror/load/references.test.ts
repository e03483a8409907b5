import { describe, expect, test } from "vitest";
import { resolveReferences } from "../../../src/mirror/load/resolve-references.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { fingerprint } from "../../support/stored-mirror.ts";
import { wireBuild, wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

const unresolved = ({ sql }: Loading) => sql`
  select resource, record_id, field, position, uri, status, target_key
  from mirror.unresolved_references order by resource, record_id, field, position`;

async function buildKeys({ sql }: Loading) {
  const [row] = await sql`select project_id, version_id from mirror.builds where id = '9'`;
  return row;
}

describe("a reference", () => {
  test("to a record that is here is a key at once", async () => {
    await using loading = await setUpLoading();
    await loading.load("version", [wireVersion("7", wireProject("1"))]);
    await loading.load("build", [wireBuild("9", { version: "/api/v1/version/7" })]);
    expect(await buildKeys(loading)).toEqual({ project_id: "1", version_id: "7" });
    expect(await unresolved(loading)).toEqual([]);
  });

  test.each([
    ["/api/v1/project/1/", "by id"],
    ["/api/v1/project/1", "without its closing slash"],
    ["http://service.invalid/api/v1/project/1/", "absolute"],
    ["/api/v1/project/project-1/", "by slug"],
    ["/api/v1/project/project-1", "by slug without its closing slash"],
  ])("%s (%s) finds its record when that arrives later", async (uri) => {
    await using loading = await setUpLoading();
    await loading.load("build", [wireBuild("9", { project: uri })]);
    expect(await unresolved(loading)).toMatchObject([
      { record_id: "9", field: "project", uri, status: "pending" },
    ]);
    await loading.load("project", [wireProject("1")]);
    expect(await resolveReferences(loading.sql)).toBe(1);
    expect(await buildKeys(loading)).toEqual({ project_id: "1", version_id: null });
    expect(await unresolved(loading)).toEqual([]);
  });

  test("by a number is an id, whatever project has that number for its slug", async () => {
    await using loading = await setUpLoading();
    await loading.load("project", [wireProject("5", { slug: "42" })]);
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/42/" })]);
    expect(await resolveReferences(loading.sql)).toBe(0);
    await loading.load("project", [wireProject("42")]);
    expect(await resolveReferences(loading.sql)).toBe(1);
    expect(await buildKeys(loading)).toMatchObject({ project_id: "42" });
  });

  test("by a slug that two projects have means the one that still exists", async () => {
    await using loading = await setUpLoading();
    await loading.load("project", [wireProject("1", { slug: "twice" }), wireProject("2", { slug: "twice" })]);
    await loading.sql`update mirror.projects set deleted_at = now() where id = '1'`;
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/twice/" })]);
    await resolveReferences(loading.sql);
    expect(await buildKeys(loading)).toMatchObject({ project_id: "2" });
  });

  test.each([
    ["http://elsewhere.example.org/api/v1/project/1/", "foreign"],
    ["/somewhere/else/", "foreign"],
    ["/api/v1/user/1/", "malformed"],
    ["nonsense", "malformed"],
    ["", "malformed"],
  ])("%j is %s and never waits for a record", async (uri, status) => {
    await using loading = await setUpLoading();
    await loading.load("user", [wireUser("1")]);
    await loading.load("project", [wireProject("1")]);
    await loading.load("build", [wireBuild("9", { project: uri })]);
    expect(await resolveReferences(loading.sql)).toBe(0);
    expect(await unresolved(loading)).toMatchObject([{ uri, status, target_key: null }]);
  });

  test("that changes replaces its unresolved row, and one that is gone takes its row with it", async () => {
    await using loading = await setUpLoading();
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/1/" })]);
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/2/" })]);
    expect(await unresolved(loading)).toMatchObject([{ uri: "/api/v1/project/2/" }]);
    await loading.load("build", [wireBuild("9", { project: null })]);
    expect(await unresolved(loading)).toEqual([]);
  });

  test("that pointed to a record and now to one that is not here has no key any more", async () => {
    await using loading = await setUpLoading();
    await loading.load("project", [wireProject("1")]);
    await loading.load("build", [wireBuild("9")]);
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/2/" })]);
    expect(await buildKeys(loading)).toMatchObject({ project_id: null });
  });
});

test("administrators keep their places, each resolved by itself", async () => {
  await using loading = await setUpLoading();
  await loading.load("user", [wireUser("1")]);
  const users = ["/api/v1/user/2/", "/api/v1/user/1/", "what?", "/api/v1/user/3/"];
  await loading.load("project", [wireProject("1", { users })]);
  const [waits, malformed] = [{ status: "pending" }, { status: "malformed" }];
  expect(await unresolved(loading)).toMatchObject([
    { position: 0, ...waits },
    { position: 2, ...malformed },
    { position: 3, ...waits },
  ]);
  await loading.load("user", [wireUser("3")]);
  expect(await resolveReferences(loading.sql)).toBe(1);
  expect(
    await loading.sql`select position, user_uri, user_id from mirror.project_users order by position`,
  ).toEqual(
    users.map((user_uri, position) => ({ position, user_uri, user_id: [null, "1", null, "3"][position] })),
  );
});

test("a version that names its project by URI instead of holding it waits for it too", async () => {
  await using loading = await setUpLoading();
  await loading.load("version", [wireVersion("7", "/api/v1/project/1/")]);
  await loading.load("project", [wireProject("1")]);
  expect(await resolveReferences(loading.sql)).toBe(1);
  expect(await loading.sql`select project_id, extra from mirror.versions`).toEqual([
    { project_id: "1", extra: { values: { project: "/api/v1/project/1/" } } },
  ]);
});

test("resolving again writes nothing", async () => {
  await using loading = await setUpLoading();
  await loading.load("build", [wireBuild("9"), wireBuild("8", { project: "/api/v1/project/2/" })]);
  await loading.load("project", [wireProject("1")]);
  await resolveReferences(loading.sql);
  const before = await fingerprint(loading.sql);
  expect(await resolveReferences(loading.sql)).toBe(0);
  expect(await fingerprint(loading.sql)).toEqual(before);
});

import { describe, expect, test } from "vitest";
import { setUpLoading } from "../../support/loading.ts";
import { fingerprint, restoreStored } from "../../support/mirror-rows.ts";
import { wireBuild, wireFile, wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

const project = wireProject("1", { users: ["/api/v1/user/1/", "/api/v1/user/2/"] });
const firstNight = {
  user: [wireUser("1"), wireUser("2")],
  project: [project, wireProject("2")],
  version: [wireVersion("11", project), wireVersion("12", wireProject("3"))],
  file: [wireFile("21", project)],
  build: [wireBuild("31", { output: "made" }), wireBuild("32", { version: "/api/v1/version/11/" })],
};

async function setUpFirstNight() {
  const loading = await setUpLoading();
  for (const resource of ["user", "project", "version", "file", "build"] as const)
    await loading.load(resource, firstNight[resource]);
  return loading;
}

describe("an identical load", () => {
  test.each(["in the same run", "in a later run"])("%s changes no row", async (when) => {
    await using loading = await setUpFirstNight();
    const before = await fingerprint(loading.sql);
    expect(before.builds).toHaveLength(2);
    if (when === "in a later run") loading.nextRun();
    for (const resource of ["build", "file", "version", "project", "user"] as const) {
      const counts = await loading.load(resource, firstNight[resource]);
      const unchanged = firstNight[resource].length;
      expect(counts).toMatchObject({ inserted: 0, updated: 0, unchanged, restored: 0, transitions: 0 });
    }
    expect(await fingerprint(loading.sql)).toEqual(before);
  });

  test("whose keys come in another order changes no row", async () => {
    await using loading = await setUpFirstNight();
    const before = await fingerprint(loading.sql);
    const turned = firstNight.build.map((record) => Object.fromEntries(Object.entries(record).reverse()));
    expect(await loading.load("build", turned)).toMatchObject({ updated: 0, unchanged: 2 });
    expect(await fingerprint(loading.sql)).toEqual(before);
  });
});

test("an insertion adds no change", async () => {
  await using loading = await setUpFirstNight();
  expect(await loading.sql`select 1 from mirror.changes`).toHaveLength(0);
});

describe("a changed record", () => {
  test.each<[keyof typeof firstNight, Record<string, unknown>, object, object]>([
    [
      "user",
      wireUser("1", { last_name: "L.", last_login: null }),
      { last_name: "", last_login: "2024-05-01T08:00:00.000001" },
      { last_name: "L.", last_login: null },
    ],
    [
      "project",
      { ...project, theme: "alabaster", modified_date: "2024-05-02T00:00:00" },
      { theme: "default", modified_date: "2024-05-01T10:00:00.5" },
      { theme: "alabaster", modified_date: "2024-05-02T00:00:00" },
    ],
    [
      "version",
      wireVersion("11", wireProject("3"), { active: false }),
      { active: true, project_id: "1" },
      { active: false, project_id: "3" },
    ],
    ["file", wireFile("21", project, { path: "a" }), { path: "docs/21.html" }, { path: "a" }],
    [
      "build",
      wireBuild("31", { state: "finished", success: false, output: "maß", error: null }),
      {
        state: "triggered",
        success: true,
        error: { md5: "d41d8cd98f00b204e9800998ecf8427e", bytes: 0 },
        output: { md5: "4ab8710d781ba5b13aaf561cafd896b7", bytes: 4 },
      },
      {
        state: "finished",
        success: false,
        error: null,
        output: { md5: "be488dfcb1de3dfdc4cf421733f11470", bytes: 4 },
      },
    ],
  ])("of %s is replaced, and changes holds just the changed fields", async (resource, record, before, after) => {
    await using loading = await setUpFirstNight();
    const others = firstNight[resource].slice(1);
    loading.nextRun();
    const at = "2024-05-16T02:00:00.000Z";
    const counts = await loading.load(resource, [record, ...others], { at });
    expect(counts).toMatchObject({ inserted: 0, updated: 1, unchanged: others.length });
    expect((await restoreStored(loading.sql, resource)).get(String(record.id))).toEqual(record);
    const changes = await loading.sql`
      select resource, record_id, run_id, observed_at, kind, before, after from mirror.changes`;
    const changed_at = "2024-05-16 02:00:00+00";
    const how = { run_id: 2, observed_at: changed_at, kind: "updated" };
    expect(changes).toEqual([{ resource, record_id: record.id, ...how, before, after }]);
    const [row] = await loading.sql.unsafe(
      `select first_seen_at < changed_at as later, changed_at from mirror.${resource}s where id = '${record.id}'`,
    );
    expect(row).toEqual({ later: true, changed_at });
  });

  test("administrators are told as lists of users though modified_date stood still", async () => {
    await using loading = await setUpFirstNight();
    await loading.load("project", [{ ...project, users: ["/api/v1/user/2/"] }]);
    const expected = [{ before: { users: project.users }, after: { users: ["/api/v1/user/2/"] } }];
    expect(await loading.sql`select before, after from mirror.changes`).toEqual(expected);
    const users =
      await loading.sql`select position, user_id from mirror.project_users where project_id = '1'`;
    expect(users).toEqual([{ position: 0, user_id: "2" }]);
  });

  test("of a build tells a key when its URI changed, and not when the record that it names has come", async () => {
    await using loading = await setUpFirstNight();
    const build = { date: "2024-05-15T11:00:00", version: "/api/v1/version/13/" };
    await loading.load("build", [wireBuild("33", build)]);
    await loading.load("version", [wireVersion("13", project)]);
    await loading.load("build", [wireBuild("33", { ...build, state: "building" })]);
    await loading.load("build", [wireBuild("33", { ...build, version: "/api/v1/version/11/" })]);
    await loading.load("build", [wireBuild("33", { ...build, version: null })]);
    expect(await loading.sql`select before, after from mirror.changes order by id`).toEqual([
      { before: { state: "triggered" }, after: { state: "building" } },
      {
        before: { state: "building", version_uri: "/api/v1/version/13/", version_id: "13" },
        after: { state: "triggered", version_uri: "/api/v1/version/11/", version_id: "11" },
      },
      {
        before: { version_uri: "/api/v1/version/11/", version_id: "11" },
        after: { version_uri: null, version_id: null },
      },
    ]);
  });

  test("of a build that its detail showed is told like any other", async () => {
    await using loading = await setUpFirstNight();
    const build = wireBuild("31", { output: "made", state: "finished" });
    await loading.load("build", [build], { source: "detail" });
    expect(await loading.sql`select record_id, kind, before, after from mirror.changes`).toEqual([
      { record_id: "31", kind: "updated", before: { state: "triggered" }, after: { state: "finished" } },
    ]);
  });

  test("an unknown field is told as extra", async () => {
    await using loading = await setUpFirstNight();
    await loading.load("user", [wireUser("1", { shoe_size: [44] })]);
    const expected = [{ before: { extra: null }, after: { extra: { values: { shoe_size: [44] } } } }];
    expect(await loading.sql`select before, after from mirror.changes`).toEqual(expected);
  });

  test("a record that differs only in what Postgres cannot hold is no change", async () => {
    await using loading = await setUpLoading();
    await loading.load("user", [wireUser("1", { first_name: "a\u0000" })]);
    await loading.load("user", [wireUser("1", { first_name: "a\uFFFD" })]);
    expect(await loading.sql`select 1 from mirror.changes`).toHaveLength(0);
  });
});

import { expect } from "vitest";
import { createLookedUpKeys } from "../../../src/mirror/load/known-keys.ts";
import type { Reference } from "../../../src/resources/record-id.ts";
import { loadingTest as test } from "../../support/loading.ts";
import { wireBuild, wireProject, wireUser } from "../../support/wire-records.ts";

const user = (key: string) => ({ kind: "record", resource: "user", key }) as const;

test("every id of a resource that others refer to is known, also from earlier runs", async ({ loading }) => {
  await loading.load("user", [wireUser("1"), wireUser("x y")]);
  loading.nextRun();
  await loading.keys.prepare([]);
  expect(loading.keys.resolve(user("1"))).toBe("1");
  expect(loading.keys.resolve(user("x y"))).toBe("x y");
  expect(loading.keys.resolve(user("2"))).toBeNull();
  expect(loading.keys.isNew("user", "2")).toBe(true);
  expect(loading.keys.resolve({ kind: "foreign" })).toBeNull();
});

test("all ids are known of a table with more than are read at once", async ({ loading }) => {
  await loading.sql`
    insert into mirror.users (id, first_seen_at, changed_at, record_hash)
    select id, now(), now(), '' from generate_series(1, 10001) as id`;
  await loading.keys.prepare([]);
  const known = ["1", "5000", "9999", "10001"].map((id) => loading.keys.resolve(user(id)));
  expect(known).toEqual(["1", "5000", "9999", "10001"]);
  expect(loading.keys.isNew("user", "10002")).toBe(true);
});

test("nothing is surely new in a table that was not read, or held some", async ({ loading }) => {
  expect(loading.keys.isNew("build", "9")).toBe(false);
  await loading.load("build", [wireBuild("1")]);
  expect(loading.keys.isNew("build", "9")).toBe(true);
  expect(loading.keys.isNew("build", "1")).toBe(false);
  loading.nextRun();
  await loading.keys.prepare([]);
  expect(loading.keys.isNew("build", "9")).toBe(false);
});

test("what was added is forgotten by a rollback, kept by a commit, or dropped", async ({ loading }) => {
  const { keys } = loading;
  await keys.prepare([]);
  for (const id of ["1", "2"]) keys.add("user", id);
  expect(keys.resolve(user("1"))).toBe("1");
  keys.rollback();
  expect(keys.resolve(user("1"))).toBeNull();
  for (const id of ["1", "2"]) keys.add("user", id);
  keys.drop("user", "2");
  keys.commit();
  keys.rollback();
  expect([keys.resolve(user("1")), keys.resolve(user("2"))]).toEqual(["1", null]);
});

const to = (resource: "user" | "project", key: string): Reference => ({ kind: "record", resource, key });

test("keys are those of the references that were looked up and are here", async ({ loading }) => {
  await loading.load("user", [wireUser("1"), wireUser("2")]);
  await loading.load("project", [wireProject("1")]);
  const keys = createLookedUpKeys(loading.sql);
  expect(keys.resolve(to("user", "1"))).toBeNull();
  await keys.prepare([to("user", "1"), to("user", "3"), to("project", "1"), { kind: "malformed" }]);
  expect(keys.resolve(to("user", "1"))).toBe("1");
  expect(keys.resolve(to("user", "2"))).toBeNull();
  expect(keys.resolve(to("user", "3"))).toBeNull();
  expect(keys.resolve(to("project", "1"))).toBe("1");
  expect(keys.resolve({ kind: "malformed" })).toBeNull();
});

test("a record that was not here is found once it is, none taken for new", async ({ loading }) => {
  const keys = createLookedUpKeys(loading.sql);
  await keys.prepare([to("user", "1")]);
  await loading.load("user", [wireUser("1")]);
  await keys.prepare([to("user", "1")]);
  expect(keys.resolve(to("user", "1"))).toBe("1");
  expect(keys.isNew("build", "1")).toBe(false);
});

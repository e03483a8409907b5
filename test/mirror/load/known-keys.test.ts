import { expect, test } from "vitest";
import { setUpLoading } from "../../support/loading.ts";
import { wireBuild, wireUser } from "../../support/wire-records.ts";

const user = (key: string) => ({ kind: "record", resource: "user", key }) as const;

test("every id of a resource that others refer to is known, also from earlier runs", async () => {
  await using loading = await setUpLoading();
  await loading.load("user", [wireUser("1"), wireUser("x y")]);
  loading.nextRun();
  await loading.keys.prepare([]);
  expect(loading.keys.resolve(user("1"))).toBe("1");
  expect(loading.keys.resolve(user("x y"))).toBe("x y");
  expect(loading.keys.resolve(user("2"))).toBeNull();
  expect(loading.keys.isNew("user", "2")).toBe(true);
  expect(loading.keys.resolve({ kind: "foreign" })).toBeNull();
});

test("nothing is certainly new before the tables were read, or in a table of builds that held some", async () => {
  await using loading = await setUpLoading();
  expect(loading.keys.isNew("build", "9")).toBe(false);
  await loading.load("build", [wireBuild("1")]);
  expect(loading.keys.isNew("build", "9")).toBe(true);
  expect(loading.keys.isNew("build", "1")).toBe(false);
  loading.nextRun();
  await loading.keys.prepare([]);
  expect(loading.keys.isNew("build", "9")).toBe(false);
});

test("what was added is forgotten by a rollback, kept by a commit, and single ones can be dropped", async () => {
  await using loading = await setUpLoading();
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

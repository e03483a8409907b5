import { expect, test } from "vitest";
import { createLookedUpKeys } from "../../../src/mirror/load/looked-up-keys.ts";
import type { Reference } from "../../../src/resources/record-id.ts";
import { setUpLoading } from "../../support/loading.ts";
import { wireProject, wireUser } from "../../support/wire-records.ts";

const to = (resource: "user" | "project", key: string): Reference => ({ kind: "record", resource, key });

test("keys are those of the references that were looked up and are here", async () => {
  await using loading = await setUpLoading();
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

test("a record that was not here is found once it is, and none is taken for new unseen", async () => {
  await using loading = await setUpLoading();
  const keys = createLookedUpKeys(loading.sql);
  await keys.prepare([to("user", "1")]);
  await loading.load("user", [wireUser("1")]);
  await keys.prepare([to("user", "1")]);
  expect(keys.resolve(to("user", "1"))).toBe("1");
  expect(keys.isNew("build", "1")).toBe(false);
});

import { expect, test } from "vitest";
import { createPageMemory, type LoadedPage } from "../../../src/mirror/load/page-memory.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { wireUser } from "../../support/wire-records.ts";

const AT = "2024-05-15T12:00:00.000Z";
const page = (seq: number, ids: string[]): LoadedPage => ({
  seq,
  request: `/api/v1/user/?offset=${seq}`,
  bodyHash: "ab".repeat(32),
  meta: { limit: 2, offset: 2 * seq, next: null, totalCount: 200, count: 2, showsOrder: false },
  ids,
  loadedAt: AT,
});

/** Pages of two users each, loaded and remembered. */
async function remember({ sql, load }: Loading, pages: number) {
  const memory = createPageMemory(sql, "user", 1);
  for (let seq = 0; seq < pages; seq++) {
    const ids = [`${seq}a`, `${seq}b`];
    await load(
      "user",
      ids.map((id) => wireUser(id)),
      { at: AT, alongside: (tx) => memory.store(tx, [page(seq, ids)]) },
    );
  }
  return createPageMemory(sql, "user", 1);
}

test("a page is recalled as it was stored, and another in its place replaces it", async () => {
  await using loading = await setUpLoading();
  const memory = await remember(loading, 2);
  const { loadedAt: _at, ...expected } = page(1, ["1a", "1b"]);
  expect(await memory.recall(1)).toMatchObject({ ...expected, request: "/api/v1/user/?offset=1" });
  expect(await memory.recall(2)).toBeNull();
  const other = { ...page(1, []), bodyHash: "cd".repeat(32) };
  await loading.sql.begin((tx) => memory.store(tx, [other, page(70, ["x"])]));
  const again = createPageMemory(loading.sql, "user", 1);
  expect(await again.recall(1)).toMatchObject({ bodyHash: other.bodyHash, ids: [] });
  expect(await again.recall(70)).toMatchObject({ ids: ["x"] });
  expect(await createPageMemory(loading.sql, "build", 1).recall(1)).toBeNull();
});

test("pages are not stale while their records are as they left them", async () => {
  await using loading = await setUpLoading();
  const memory = await remember(loading, 3);
  await memory.forgetStale(0);
  for (const seq of [0, 1, 2]) expect(await memory.recall(seq)).not.toBeNull();
});

test("a page is forgotten when a record of it was written later by someone else", async () => {
  await using loading = await setUpLoading();
  const memory = await remember(loading, 3);
  await loading.load("user", [wireUser("1b", { first_name: "B" })], {
    source: "detail",
    at: "2024-05-15T12:00:00.001Z",
  });
  await memory.forgetStale(0);
  expect(
    [await memory.recall(0), await memory.recall(1), await memory.recall(2)].map((one) => one !== null),
  ).toEqual([true, false, true]);
});

test("a page is forgotten when a later run wrote a record of it on a clock that was set back", async () => {
  await using loading = await setUpLoading();
  const memory = await remember(loading, 2);
  loading.nextRun();
  const at = "2014-05-15T12:00:00Z";
  await loading.load("user", [wireUser("1b", { first_name: "B" })], { source: "detail", at });
  await memory.forgetStale(0);
  expect([await memory.recall(0), await memory.recall(1)].map((one) => one !== null)).toEqual([true, false]);
});

test("a page is forgotten when a record of it is deleted here", async () => {
  await using loading = await setUpLoading();
  const memory = await remember(loading, 2);
  await loading.sql`update mirror.users set deleted_at = '2024-05-15T11:00:00Z' where id = '0a'`;
  await memory.forgetStale(0);
  expect(await memory.recall(0)).toBeNull();
  expect(await memory.recall(1)).not.toBeNull();
});

test("pagesBefore gives every page before a place in their order, over many windows", async () => {
  await using loading = await setUpLoading();
  const memory = createPageMemory(loading.sql, "user", 1);
  const pages = Array.from({ length: 100 }, (_, seq) => page(seq, [`${seq}`, `"{${seq}},\\`]));
  await loading.sql.begin((tx) => memory.store(tx, pages));
  const ids: string[] = [];
  for await (const one of memory.pagesBefore(70)) ids.push(...one.ids);
  expect(ids).toEqual(pages.slice(0, 70).flatMap((one) => one.ids));
});

test("forgetFrom drops what a shorter list no longer has", async () => {
  await using loading = await setUpLoading();
  const memory = await remember(loading, 3);
  await loading.sql.begin((tx) => memory.forgetFrom(tx, 1));
  expect(await loading.sql`select seq from sync.pages`).toEqual([{ seq: 0 }]);
});

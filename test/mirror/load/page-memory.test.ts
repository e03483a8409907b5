import { expect } from "vitest";
import { createEarlierPages, createPageMemory, openMemories } from "../../../src/mirror/load/page-memory.ts";
import type { RememberedPage } from "../../../src/mirror/walk/page.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import { type Loading, loadingTest as test } from "../../support/loading.ts";
import { wireBuild, wireUser } from "../../support/wire-records.ts";

const AT = "2024-05-15T12:00:00.000Z";
const hashOf = (seq: number) => seq.toString(16).padStart(64, "a");
const page = (seq: number, ids: string[]): RememberedPage => ({
  seq,
  request: `/api/v1/user/?limit=2&offset=${2 * seq}`,
  bodyHash: hashOf(seq),
  meta: { limit: 2, offset: 2 * seq, next: null, totalCount: 200, count: 2, showsOrder: false },
  ids,
  loadedAt: AT,
  runId: 1,
});

async function remember({ sql, load }: Loading, pages: number) {
  const memory = createPageMemory(sql, "user");
  for (let seq = 0; seq < pages; seq++) {
    const ids = [`${seq}a`, `${seq}b`];
    const users = ids.map((id) => wireUser(id));
    await load("user", users, { at: AT, alongside: (tx) => memory.store(tx, [page(seq, ids)]) });
  }
  return memory;
}

async function places({ sql }: Loading): Promise<number[]> {
  return (await sql<{ seq: number }[]>`select seq from sync.pages order by seq`).map(({ seq }) => seq);
}

test("a page is recalled by its hash as it was stored, until another replaces it", async ({ loading }) => {
  const { sql } = loading;
  const memory = await remember(loading, 2);
  const recall = (hash: string, of: Resource = "user") => createEarlierPages(sql, of).recall(hash);
  const { loadedAt: _at, ...expected } = page(1, ["1a", "1b"]);
  expect(await recall(hashOf(1))).toMatchObject({ ...expected, at: { limit: 2, offset: 2 } });
  expect(await recall(hashOf(2))).toBeNull();
  expect(await recall(hashOf(1), "build")).toBeNull();
  const other = { ...page(1, ["x"]), bodyHash: hashOf(9) };
  await sql.begin((tx) => memory.store(tx, [other, { ...page(2, ["y"]), bodyHash: "" }, page(3, [])]));
  expect(await recall(hashOf(9))).toMatchObject({ ids: ["x"] });
  for (const hash of [hashOf(1), hashOf(2), hashOf(3)]) expect(await recall(hash)).toBeNull();
});

test("a page that is stored again as it was recalled keeps when it was loaded", async ({ loading }) => {
  const memory = await remember(loading, 1);
  const known = await createEarlierPages(loading.sql, "user").recall(hashOf(0));
  if (known) await loading.sql.begin((tx) => memory.store(tx, [{ ...known, seq: 4 }]));
  const rows =
    await loading.sql`select distinct loaded_at, run_id, body_hash, normalizer_version from sync.pages`;
  expect(rows).toHaveLength(1);
});

test("pages are not stale while their records are as they left them", async ({ loading }) => {
  const memory = await remember(loading, 3);
  await memory.forgetStale(0);
  expect(await places(loading)).toEqual([0, 1, 2]);
});

test("a page is forgotten when a record of it was written later by someone else", async ({ loading }) => {
  const memory = await remember(loading, 3);
  const at = "2024-05-15T12:00:00.001Z";
  await loading.load("user", [wireUser("1b", { first_name: "B" })], { source: "detail", at });
  await memory.forgetStale(0);
  expect(await places(loading)).toEqual([0, 2]);
});

test("a page is forgotten when a later run with an earlier clock wrote of it", async ({ loading }) => {
  const memory = await remember(loading, 2);
  loading.nextRun();
  const at = "2014-05-15T12:00:00Z";
  await loading.load("user", [wireUser("1b", { first_name: "B" })], { source: "detail", at });
  await memory.forgetStale(0);
  expect(await places(loading)).toEqual([0]);
});

test("a page is forgotten when a record of it is deleted here", async ({ loading }) => {
  const memory = await remember(loading, 2);
  await loading.sql`update mirror.users set deleted_at = '2024-05-15T11:00:00Z' where id = '0a'`;
  await memory.forgetStale(0);
  expect(await places(loading)).toEqual([1]);
});

test("a page of builds is forgotten when one vanishes, not one before it", async ({ loading }) => {
  const { sql, load } = loading;
  const memory = createPageMemory(sql, "build");
  for (const [seq, id] of ["1", "2", "3"].entries())
    await load("build", [wireBuild(id, { state: "building" })], {
      at: AT,
      alongside: (tx) => memory.store(tx, [page(seq, [id])]),
    });
  await memory.forgetStale(0);
  expect(await places(loading)).toEqual([0, 1, 2]);
  await sql`update sync.open_builds set vanished_at = now() where build_id in ('1', '3')`;
  await memory.forgetStale(1);
  expect(await places(loading)).toEqual([0, 1]);
});

test("the memories of several lists open at once, without what is stale in each", async ({ loading }) => {
  const { sql } = loading;
  await remember(loading, 3);
  await loading.load("build", [wireBuild("9")], {
    at: AT,
    alongside: (tx) => createPageMemory(sql, "build").store(tx, [page(0, ["9"])]),
  });
  await sql`delete from mirror.users where id = '1b'`;
  await sql`truncate mirror.builds cascade`;
  const first = await openMemories(sql, ["user", "build", "file"]);
  expect([...first].map(([resource, pages]) => [resource, pages.map(({ seq }) => seq)])).toEqual([
    ["user", [0, 2]],
    ["build", []],
    ["file", []],
  ]);
  expect(await places(loading)).toEqual([0, 2]);
  // The count of the builds is right again.
  expect(await sql`select live from sync.lists where resource = 'build'`).toEqual([{ live: 0 }]);
  const recall = createEarlierPages(sql, "user", { first: Promise.resolve(first) }).recall(hashOf(2));
  expect(await recall).toMatchObject({ seq: 2 });
});

test("pagesBefore gives every page before a place in their order, over many windows", async ({ loading }) => {
  const memory = createPageMemory(loading.sql, "user");
  const pages = Array.from({ length: 100 }, (_, seq) => page(seq, [`${seq}`, `"{${seq}},\\`]));
  await loading.sql.begin((tx) => memory.store(tx, pages));
  const ids: string[] = [];
  for await (const one of memory.pagesBefore(70)) ids.push(...one.ids);
  expect(ids).toEqual(pages.slice(0, 70).flatMap((one) => one.ids));
});

test("forgetFrom drops what a shorter list no longer has", async ({ loading }) => {
  const memory = await remember(loading, 3);
  await loading.sql.begin((tx) => memory.forgetFrom(tx, 1));
  expect(await places(loading)).toEqual([0]);
});

test("earlier pages are read before this walk stores its own, around its place", { tags: ["long"] }, async ({
  loading,
}) => {
  const memory = createPageMemory(loading.sql, "user");
  const pages = Array.from({ length: 300 }, (_, seq) => page(seq, [`${seq}`]));
  await loading.sql.begin((tx) => memory.store(tx, pages));
  const earlier = createEarlierPages(loading.sql, "user");
  // Five new pages came in front.
  for (let seq = 0; seq < 300; seq++) {
    const known = await earlier.recall(seq < 5 ? "new" : hashOf(seq - 5));
    expect(known?.seq).toBe(seq < 5 ? undefined : seq - 5);
    await loading.sql.begin((tx) => memory.store(tx, [{ ...page(seq, ["new"]), bodyHash: "" }]));
    expect(earlier.sections().length).toBeLessThanOrEqual(128);
  }
});

test("a page is stale where a record of it has lost its row, but for one that is read anyway", async ({
  loading,
}) => {
  const memory = await remember(loading, 3);
  await loading.sql.begin((tx) => memory.store(tx, [{ ...page(2, ["2a", "2b"]), bodyHash: "" }]));
  await loading.sql`delete from mirror.users where id in ('1b', '2a')`;
  await memory.forgetStale(0);
  expect(await places(loading)).toEqual([0, 2]);
});

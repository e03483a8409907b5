import { expect, test } from "vitest";
import { normalizePage } from "../../src/normalize/page.ts";
import { createSightingOrder } from "../../src/sync/sighting-order.ts";
import { wireBuild } from "../support/wire-records.ts";

/** A page of builds with these states, by id, as it was seen at a second. */
function page(seq: number, second: number, states: Record<string, string>) {
  const records = Object.entries(states).map(([id, state]) => wireBuild(id, { state }));
  return {
    resource: "build" as const,
    seq,
    request: "",
    meta: { limit: 2, offset: 0, next: null, totalCount: null, count: records.length, showsOrder: false },
    ids: Object.keys(states),
    records,
    bodyHash: "",
    bytes: 1,
    observedAt: at(second),
    holes: [],
    isAnchored: true,
    following: null,
    normalized: normalizePage("build", records, new URL("http://service.invalid")),
  };
}
const at = (second: number) => new Date(Date.UTC(2024, 4, 15, 12, 0, second));
const idsOf = (one: { normalized?: { records: { id: string }[] } }) =>
  one.normalized?.records.map(({ id }) => id);

test("pages that came in their order are as they were", () => {
  const inOrder = createSightingOrder();
  expect(inOrder(page(0, 1, { b: "building", a: "finished" })).loadedAt).toEqual(at(1));
  const next = inOrder(page(1, 2, { a: "triggered", c: "finished" }));
  expect([idsOf(next), next.loadedAt]).toEqual([["a", "c"], at(2)]);
});

test("an older sighting with other content is left out, and its page is not taken for current", () => {
  const inOrder = createSightingOrder();
  inOrder(page(0, 5, { b: "finished", a: "finished" }));
  const older = inOrder(page(1, 3, { a: "building", c: "finished" }));
  expect([idsOf(older), older.loadedAt]).toEqual([["c"], at(3)]);
});

test("an older page that agrees with what came later is as good as one that came in its place", () => {
  const inOrder = createSightingOrder();
  inOrder(page(0, 5, { b: "finished", a: "building" }));
  const older = inOrder(page(1, 3, { a: "building", c: "finished" }));
  expect([idsOf(older), older.loadedAt]).toEqual([["a", "c"], at(5)]);
});

test("a page that was skipped unparsed is handed on", () => {
  const { normalized: _, ...skipped } = page(0, 1, { a: "finished" });
  expect(createSightingOrder()({ ...skipped, records: null })).toMatchObject({
    records: null,
    loadedAt: at(1),
  });
});

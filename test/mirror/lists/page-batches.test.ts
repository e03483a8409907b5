import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createBatches, createPageOrder } from "../../../src/mirror/lists/page-batches.ts";
import { normalizePage } from "../../../src/mirror/normalize/page.ts";
import type { Page } from "../../../src/mirror/walk/page.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { startQuickWorld } from "../../support/quick-world.ts";
import { wireBuild } from "../../support/wire-records.ts";

const waiting = (seq: number) => ({ seq, bytes: 10 }) as Page;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function setUp(maxPages: number, isOverdrawn = () => false) {
  const begun: { seqs: number[]; end(error?: Error): void }[] = [];
  const batches = createBatches(
    (pages) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error ? reject(error) : resolve());
        begun.push({ seqs: pages.map(({ seq }) => seq), end });
      }),
    maxPages,
    isOverdrawn,
  );
  return { batches, begun, seqs: () => begun.map((batch) => batch.seqs) };
}

test("pages are handed on at once, and what arrives meanwhile in one batch, in order", async () => {
  const { batches, begun, seqs } = setUp(16);
  for (const seq of [0, 1, 2, 3]) await batches.add(waiting(seq));
  expect(seqs()).toEqual([[0], [1]]);
  begun[0]?.end();
  await turn();
  expect(seqs()).toEqual([[0], [1], [2, 3]]);
  for (const batch of begun) batch.end();
  await batches.end();
});

test.each([
  ["a full batch", 2, Number.POSITIVE_INFINITY],
  ["pages that take too much memory", 16, 3],
])("%s hold the reader up until one that is under way has ended", async (_what, maxPages, mostPages) => {
  let held = 0;
  const { batches, begun } = setUp(maxPages, () => held > mostPages);
  for (const seq of [0, 1, 2]) {
    held += 1;
    await batches.add(waiting(seq));
  }
  held += 1;
  let isAdded = false;
  const added = batches.add(waiting(3)).then(() => {
    isAdded = true;
  });
  await turn();
  expect(isAdded).toBe(false);
  held -= 1;
  begun[0]?.end();
  await added;
  for (const batch of begun) batch.end();
  await turn();
  for (const batch of begun) batch.end();
  await batches.end();
});

test("with one page a batch each is settled before the next is taken", async () => {
  const { batches, begun, seqs } = setUp(1);
  const added = batches.add(waiting(0));
  await turn();
  expect(seqs()).toEqual([[0]]);
  begun[0]?.end();
  await added;
  await batches.end();
});

test("a failure is thrown by the next call that adds or ends, and nothing more is handed on", async () => {
  const { batches, begun, seqs } = setUp(16);
  for (const seq of [0, 1, 2]) await batches.add(waiting(seq));
  const reason = new Error("no");
  begun[0]?.end(reason);
  begun[1]?.end();
  await turn();
  await expect(batches.add(waiting(3))).rejects.toBe(reason);
  await expect(batches.end()).rejects.toBe(reason);
  expect(seqs()).toEqual([[0], [1]]);
});

/** A page of builds with these states, by id, as it was seen at a second. */
function page(seq: number, second: number, states: Record<string, string>) {
  const records = Object.entries(states).map(([id, state]) => wireBuild(id, { state }));
  return {
    resource: "build" as const,
    seq,
    request: "",
    meta: { limit: 2, offset: 0, next: null, totalCount: null, count: records.length, showsOrder: false },
    ids: Object.keys(states),
    dates: null,
    records,
    bodyHash: "",
    bytes: 1,
    tookMs: 1,
    askedAt: at(second),
    observedAt: at(second),
    holes: [],
    isAnchored: true,
    following: null,
    normalized: normalizePage("build", records, {
      baseUrl: new URL("http://service.invalid"),
      sourceTimezone: "Etc/UTC",
    }),
  };
}
const at = (second: number) => new Date(Date.UTC(2024, 4, 15, 12, 0, second));
const idsOf = (one: { normalized?: { records: { id: string }[] } }) =>
  one.normalized?.records.map(({ id }) => id);

test("pages that came in their order are as they were", () => {
  const inOrder = createPageOrder();
  expect(inOrder(page(0, 1, { b: "building", a: "finished" })).loadedAt).toEqual(at(1));
  const next = inOrder(page(1, 2, { a: "triggered", c: "finished" }));
  expect([idsOf(next), next.loadedAt]).toEqual([["a", "c"], at(2)]);
});

test("an older sighting with other content is left out, and its page is not taken for current", () => {
  const inOrder = createPageOrder();
  inOrder(page(0, 5, { b: "finished", a: "finished" }));
  const older = inOrder(page(1, 3, { a: "building", c: "finished" }));
  expect([idsOf(older), older.loadedAt]).toEqual([["c"], at(3)]);
});

test("an older page that agrees with what came later is as good as one that came in its place", () => {
  const inOrder = createPageOrder();
  inOrder(page(0, 5, { b: "finished", a: "building" }));
  const older = inOrder(page(1, 3, { a: "building", c: "finished" }));
  expect([idsOf(older), older.loadedAt]).toEqual([["a", "c"], at(5)]);
});

test("a page that was skipped unparsed is handed on", () => {
  const { normalized: _, ...skipped } = page(0, 1, { a: "finished" });
  const expected = { records: null, loadedAt: at(1) };
  expect(createPageOrder()({ ...skipped, records: null })).toMatchObject(expected);
});

test("a page that was rendered before the one in front moves no build back", { tags: ["long"] }, async () => {
  let rendered: () => void = () => {};
  const behind = new Promise<void>((resolve) => {
    rendered = resolve;
  });
  let shared = "";
  const counts = { users: 3, projects: 3, versions: 3, files: 1, builds: 12 };
  await using quick = await startQuickWorld(
    { ...counts, rates: QUIET, stuckShare: 0, clockSteps: false },
    async (request, next) => {
      const { pathname, searchParams } = new URL(request.url);
      const offset = pathname === "/api/v1/build/" ? searchParams.get("offset") : null;
      // Pages of four, two of them shared: the third page is rendered first, with a build that goes on until the second is.
      if (offset === "2") {
        await behind;
        await new Promise(setImmediate);
      }
      const reply = await next();
      if (offset !== "4") return reply;
      const body = (await reply.json()) as { objects: { id: string; state: string }[] };
      const [first] = body.objects;
      if (first) [shared, first.state] = [first.id, "building"];
      rendered();
      return Response.json(body);
    },
  );
  // No two arrivals at the same time, whatever the resolution of the machine's clock.
  let ticks = 0;
  const clock = { ...systemClock, now: () => new Date(quick.world.now().getTime() + ticks++) };
  const { summary } = await quick.sync({ clock, settings: { pageSize: 4 }, resources: ["build"] });
  expect(summary.resources.build).toMatchObject({ walk: "whole", records: 12 });
  const { sql } = quick;
  expect(await sql`select state from mirror.builds where id = ${shared}`).toEqual([{ state: "finished" }]);
  const seen = await sql`select to_state from mirror.build_transitions where build_id = ${shared}`;
  expect(seen).toEqual([{ to_state: "finished" }]);
});

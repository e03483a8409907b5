import { expect, test } from "vitest";
import { createBatches } from "../../../src/mirror/lists/page-batches.ts";
import type { Page } from "../../../src/mirror/walk/page.ts";

const page = (seq: number, bytes = 10) => ({ seq, bytes }) as Page;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Batches whose ends the test gives. */
function setUp(maxPages: number) {
  const begun: { seqs: number[]; end(error?: Error): void }[] = [];
  const batches = createBatches(
    (pages) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error ? reject(error) : resolve());
        begun.push({ seqs: pages.map(({ seq }) => seq), end });
      }),
    maxPages,
  );
  return { batches, begun, seqs: () => begun.map((batch) => batch.seqs) };
}

test("pages are handed on at once, and what arrives meanwhile in one batch, in order", async () => {
  const { batches, begun, seqs } = setUp(16);
  for (const seq of [0, 1, 2, 3]) await batches.add(page(seq));
  expect(seqs()).toEqual([[0], [1]]);
  begun[0]?.end();
  await turn();
  expect(seqs()).toEqual([[0], [1], [2, 3]]);
  for (const batch of begun) batch.end();
  await batches.end();
});

test.each([
  ["pages", 2, 10],
  ["bytes", 16, 800_000],
])("a full batch by %s holds the reader up until one that is under way has ended", async (_what, maxPages, bytes) => {
  const { batches, begun } = setUp(maxPages);
  for (const seq of [0, 1, 2]) await batches.add(page(seq, bytes));
  let isAdded = false;
  const added = batches.add(page(3, bytes)).then(() => {
    isAdded = true;
  });
  await turn();
  expect(isAdded).toBe(false);
  begun[0]?.end();
  await added;
  for (const batch of begun) batch.end();
  await turn();
  for (const batch of begun) batch.end();
  await batches.end();
});

test("with one page a batch each is settled before the next is taken", async () => {
  const { batches, begun, seqs } = setUp(1);
  const added = batches.add(page(0));
  await turn();
  expect(seqs()).toEqual([[0]]);
  begun[0]?.end();
  await added;
  await batches.end();
});

test("a failure is thrown to whoever adds or ends next, and nothing more is handed on", async () => {
  const { batches, begun, seqs } = setUp(16);
  for (const seq of [0, 1, 2]) await batches.add(page(seq));
  const reason = new Error("no");
  begun[0]?.end(reason);
  begun[1]?.end();
  await turn();
  await expect(batches.add(page(3))).rejects.toBe(reason);
  await expect(batches.end()).rejects.toBe(reason);
  expect(seqs()).toEqual([[0], [1]]);
});

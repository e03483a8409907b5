import { describe, expect, it } from "vitest";
import {
  createPageSize,
  type PageSize,
  type RememberedSize,
  type SizedPage,
} from "../../src/walk/page-size.ts";

const NOW = Date.UTC(2024, 4, 15);
const DAY = 86_400_000;
const KB = 1024;

interface Reply {
  offset?: number;
  limit?: number;
  count?: number;
  hasNext?: boolean;
  totalCount?: number | null;
  /** @default 100 bytes a record */
  bytes?: number;
  /** @default 10 ms */
  ms?: number;
}

function replyTo(size: PageSize, reply: Reply = {}): SizedPage {
  const { offset = 0, limit = size.size, count = limit, hasNext = true, totalCount = 10_000 } = reply;
  return {
    request: { limit, offset },
    ...{ count, hasNext, totalCount },
    bytes: reply.bytes ?? count * 100,
    askedAt: new Date(NOW),
    observedAt: new Date(NOW + (reply.ms ?? 10)),
  };
}

/** The size after the first page of a walk. */
function afterFirst(reply: Reply, remembered: RememberedSize | null = null): number {
  const size = createPageSize(remembered);
  size.learn(replyTo(size, reply), true);
  return size.size;
}

/** A size of 1,000 that is in the middle of a list. */
const inTheMiddle = (): PageSize => createPageSize({ size: 1000, shrunkAt: null });

describe("the size of a list's pages", () => {
  it.each<[string, Reply, number]>([
    ["to 1,000 where pages are light and quick", {}, 1000],
    ["so far that the time stays under a second, even if it grew as the records do", { ms: 400 }, 250],
    ["so far that three quarters of a megabyte are not exceeded", { bytes: 192 * KB }, 400],
    ["not at all where a page half as large again could take a second", { ms: 700 }, 100],
    ["not at all where a page half as large again could be too heavy", { bytes: 600 * KB }, 100],
    ["not at all where it saves no request", { totalCount: 150 }, 100],
    ["where it saves one", { totalCount: 201 }, 1000],
    ["not at all where the count is unknown", { totalCount: null }, 100],
    ["not at all where the page is the whole list", { count: 60, hasNext: false, totalCount: 60 }, 100],
    ["not at all by a page that was narrowed", { limit: 50 }, 100],
  ])("grows by the first page %s", (_, reply, expected) => {
    expect(afterFirst(reply)).toBe(expected);
  });

  it("begins with the one that is remembered, and keeps it while a larger one is not worth it", () => {
    expect(createPageSize({ size: 400, shrunkAt: null }).size).toBe(400);
    expect(afterFirst({ bytes: 600 * KB }, { size: 400, shrunkAt: null })).toBe(400);
    expect(afterFirst({ bytes: 400 * KB }, { size: 400, shrunkAt: null })).toBe(768);
  });

  it("does not grow for a week after it shrank", () => {
    expect(afterFirst({}, { size: 400, shrunkAt: new Date(NOW - 6 * DAY) })).toBe(400);
    expect(afterFirst({}, { size: 400, shrunkAt: new Date(NOW - 8 * DAY) })).toBe(1000);
  });

  it("grows within a list after eight light pages in a row", () => {
    const size = createPageSize(null);
    size.learn(replyTo(size, { ms: 900 }), true);
    for (let page = 1; page <= 7; page++) size.learn(replyTo(size, { offset: page * 98 }), false);
    size.learn(replyTo(size, { offset: 800, ms: 900 }), false);
    for (let page = 9; page <= 15; page++) size.learn(replyTo(size, { offset: page * 98 }), false);
    expect(size.size).toBe(100);
    size.learn(replyTo(size, { offset: 1600, ms: 500 }), false);
    expect(size.size).toBe(200);
    expect(size.shrunkAt).toBeNull();
  });

  it("is halved by a page of more than a megabyte, down to 100", () => {
    const size = inTheMiddle();
    const sizes = [1, 2, 3, 4, 5].map(() => {
      size.learn(replyTo(size, { offset: 5000, bytes: 1025 * KB }), false);
      return size.size;
    });
    expect(sizes).toEqual([500, 250, 125, 100, 100]);
    expect(size.shrunkAt).toEqual(new Date(NOW + 10));
  });

  it("is halved by eight slow pages in a row, not by fewer", () => {
    const size = inTheMiddle();
    const slow = () => size.learn(replyTo(size, { offset: 5000, ms: 1001 }), false);
    for (let page = 1; page <= 7; page++) slow();
    size.learn(replyTo(size, { offset: 5000 }), false);
    for (let page = 1; page <= 7; page++) slow();
    expect(size.size).toBe(1000);
    slow();
    expect(size.size).toBe(500);
  });

  it("is what comes where the service sends fewer records, also under 100", () => {
    expect(afterFirst({ count: 250 }, { size: 1000, shrunkAt: null })).toBe(250);
    const size = createPageSize(null);
    size.learn(replyTo(size, { count: 20 }), true);
    expect(size.size).toBe(20);
    // It never grows beyond it in this walk.
    for (let page = 1; page <= 20; page++) size.learn(replyTo(size, { offset: page * 18 }), false);
    expect(size.size).toBe(20);
  });
});

describe("a page that failed", () => {
  it("is read 100 records at a time, and the size behind it is halved", () => {
    const size = inTheMiddle();
    size.fail({ offset: 2000, limit: 1000 });
    expect([1999, 2000, 2999, 3000].map((offset) => size.limitAt(offset))).toEqual([500, 100, 100, 500]);
    expect(size.regionEnd(2500)).toBe(3000);
    expect(size.regionEnd(3000)).toBeNull();
    expect(size.shrunkAt).toBeNull();
    size.learn(replyTo(size, { offset: 2000, limit: 100 }), false);
    expect(size.shrunkAt).toEqual(new Date(NOW + 10));
  });

  it("leaves the size as it was when its records are at fault", () => {
    const before = { size: 1000, shrunkAt: new Date(NOW - 90 * DAY) };
    const size = createPageSize(before);
    size.fail({ offset: 2000, limit: 1000 });
    size.learn(replyTo(size, { offset: 2000, limit: 100 }), false);
    size.fail({ offset: 2098, limit: 100 });
    size.learn(replyTo(size, { offset: 2098, limit: 50 }), false);
    expect(size).toMatchObject(before);
    expect(size.limitAt(2500)).toBe(100);
    expect(size.limitAt(3000)).toBe(1000);
  });

  it("gives a size up that was only tried", () => {
    const size = createPageSize({ size: 400, shrunkAt: null });
    size.learn(replyTo(size), true);
    expect(size.size).toBe(1000);
    size.fail({ offset: 0, limit: 1000 });
    expect(size.size).toBe(400);
  });
});

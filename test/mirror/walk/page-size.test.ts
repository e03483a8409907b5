import { describe, expect, it } from "vitest";
import {
  createPageSize,
  type PageSize,
  type RememberedSize,
  type SizedPage,
} from "../../../src/mirror/walk/page-size.ts";

const NOW = Date.UTC(2024, 4, 15);
const DAY = 86_400_000;
const KB = 1024;

interface Reply {
  offset?: number;
  limit?: number;
  count?: number;
  hasNext?: boolean;
  /** @default the limit */
  saidLimit?: number;
  totalCount?: number | null;
  /** @default another record on each page */
  lastId?: string;
  /** @default 100 bytes a record */
  bytes?: number;
  /** @default 10 ms */
  ms?: number;
}

function replyTo(size: PageSize, reply: Reply = {}): [{ limit: number; offset: number }, SizedPage] {
  const { offset = 0, limit = size.size, count = limit, hasNext = true, totalCount = 10_000 } = reply;
  const next = hasNext ? "/api/v1/build/" : null;
  const page: SizedPage = {
    meta: { limit: reply.saidLimit ?? limit, offset, next, totalCount, count, showsOrder: false },
    ids: [reply.lastId ?? `last of ${offset} to ${offset + count}`],
    bytes: reply.bytes ?? count * 100,
    observedAt: new Date(NOW + 10),
    tookMs: reply.ms ?? 10,
  };
  return [{ limit, offset }, page];
}

const learn = (size: PageSize, reply: Reply = {}) => size.learn(...replyTo(size, reply), false);

function afterFirst(reply: Reply, remembered: RememberedSize | null = null): number {
  const size = createPageSize(remembered);
  size.learn(...replyTo(size, reply), true);
  return size.size;
}

/** A size of 1,000 that is in the middle of a list. */
const inTheMiddle = (): PageSize => createPageSize({ size: 1000, shrunkAt: null });

describe("the size of a list's pages", () => {
  it.each<[string, Reply, number]>([
    ["to 1,000 where pages are light and quick", {}, 1000],
    ["so far that the time stays under four seconds, even if it grew as the records do", { ms: 1600 }, 250],
    ["so far that four and a half megabytes are not exceeded", { bytes: 1152 * KB }, 400],
    ["by a little, because nothing is remembered", { ms: 3200 }, 125],
    ["not at all where a larger page could take too long", { ms: 5000 }, 100],
    ["not at all where a larger page could be too heavy", { bytes: 5000 * KB }, 100],
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
    expect(afterFirst({ bytes: 3600 * KB }, { size: 400, shrunkAt: null })).toBe(400);
    expect(afterFirst({ bytes: 2400 * KB }, { size: 400, shrunkAt: null })).toBe(768);
  });

  it.each<[string, Reply, number]>([
    ["takes too long", { ms: 16_000 }, 250],
    ["is too heavy", { bytes: 9216 * KB }, 500],
    ["is light", {}, 1000],
  ])("begins with what another list has found, and fits its first page where that %s", (_, reply, expected) => {
    const size = createPageSize(null, 1000);
    expect(size.size).toBe(1000);
    size.learn(...replyTo(size, reply), true);
    expect(size).toMatchObject({ size: expected, shrunkAt: null });
    const failed = createPageSize(null, 1000);
    failed.fail({ offset: 0, limit: 1000 });
    expect(failed.size).toBe(100);
  });

  it("may correct itself by the second request for the first page", () => {
    const size = createPageSize(null);
    for (const [ms, expected] of [
      [800, 500],
      [900, 1000],
      [1900, 1000],
    ] as const) {
      size.learn(...replyTo(size, { ms }), true);
      expect(size.size).toBe(expected);
    }
  });

  it("does not grow for a week after it shrank", () => {
    expect(afterFirst({}, { size: 400, shrunkAt: new Date(NOW - 6 * DAY) })).toBe(400);
    expect(afterFirst({}, { size: 400, shrunkAt: new Date(NOW - 8 * DAY) })).toBe(1000);
  });

  it("grows within a list after eight light pages in a row", () => {
    const size = createPageSize(null);
    size.learn(...replyTo(size, { ms: 4000 }), true);
    for (let page = 1; page <= 7; page++) learn(size, { offset: page * 98 });
    learn(size, { offset: 800, ms: 3600 });
    for (let page = 9; page <= 15; page++) learn(size, { offset: page * 98 });
    expect(size.size).toBe(100);
    learn(size, { offset: 1600, ms: 2000 });
    expect(size.size).toBe(200);
    expect(size.shrunkAt).toBeNull();
  });

  it("is halved by a page of more than six megabytes, down to 100", () => {
    const size = inTheMiddle();
    const sizes = [1, 2, 3, 4, 5].map(() => {
      learn(size, { offset: 5000, bytes: 6145 * KB });
      return size.size;
    });
    expect(sizes).toEqual([500, 250, 125, 100, 100]);
    expect(size.shrunkAt).toEqual(new Date(NOW + 10));
  });

  it.each([
    [8, 5001],
    [2, 20_000],
  ])("is halved by %i pages in a row that took %i ms, not by fewer", (pages, ms) => {
    const size = inTheMiddle();
    const slow = () => learn(size, { offset: 5000, ms });
    for (let page = 1; page < pages; page++) slow();
    learn(size, { offset: 5000 });
    for (let page = 1; page < pages; page++) slow();
    expect(size.size).toBe(1000);
    slow();
    expect(size.size).toBe(500);
  });

  it("is what the service says that it sends, also under 100", () => {
    expect(afterFirst({ count: 250, saidLimit: 250 }, { size: 1000, shrunkAt: null })).toBe(250);
    const size = createPageSize(null);
    size.learn(...replyTo(size, { count: 20, saidLimit: 20 }), true);
    expect(size.size).toBe(20);
    // It never grows beyond it in this walk.
    for (let page = 1; page <= 20; page++) learn(size, { offset: page * 18 });
    expect(size.size).toBe(20);
  });

  it("stays as it is at a page that is too short, and at pages of different counts", () => {
    const size = inTheMiddle();
    for (const count of [2, 980, 977, 980, 977, 3, 400, 400, 401]) learn(size, { offset: 5000, count });
    expect(size.size).toBe(1000);
    expect(size.shrunkAt).toBeNull();
  });

  it("is what came where three pages in a row had one and the same smaller count, and grows again", () => {
    const size = inTheMiddle();
    for (let page = 1; page <= 3; page++) learn(size, { offset: 5000, count: 300 });
    expect(size.size).toBe(300);
    expect(size.shrunkAt).toBeNull();
    for (let page = 1; page <= 8; page++) learn(size, { offset: 6000 });
    expect(size.size).toBe(1000);
  });

  it("never goes under 100 because of what came", () => {
    const size = createPageSize(null);
    for (let page = 0; page < 20; page++)
      size.learn(...replyTo(size, { offset: page * 2, count: 2 }), page === 0);
    expect(size.size).toBe(100);
  });

  it("grows by a page that lacks a few of its records", () => {
    expect(afterFirst({ count: 98 })).toBe(1000);
    expect(afterFirst({ count: 80 })).toBe(100);
  });
});

describe("a last page whose own count says that more follows", () => {
  const cut = { offset: 2000, count: 300, hasNext: false, totalCount: 5000 };

  it("is read on 100 records at a time, and the size stays small where more follows", () => {
    const size = inTheMiddle();
    learn(size, cut);
    expect(size.size).toBe(100);
    learn(size, { offset: 2294 });
    learn(size, { offset: 4950, count: 50, hasNext: false, totalCount: 5000 });
    expect(size.size).toBe(100);
    expect(size.shrunkAt).toEqual(new Date(NOW + 10));
  });

  it.each<[where: string, first: Reply, second: Reply]>([
    ["nothing follows", cut, { ...cut, offset: 2294, count: 6 }],
    [
      "the same record is the last one, at another place because others are hidden",
      { ...cut, lastId: "1" },
      { ...cut, offset: 2294, count: 20, lastId: "1" },
    ],
    ["it only repeats the end", { offset: 1320, lastId: "1" }, { ...cut, count: 20, lastId: "1" }],
  ])("leaves the size as it was where %s", (_, first, second) => {
    const size = inTheMiddle();
    learn(size, first);
    learn(size, second);
    expect(size).toMatchObject({ size: 1000, shrunkAt: null });
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
    learn(size, { offset: 2000, limit: 100 });
    expect(size.shrunkAt).toEqual(new Date(NOW + 10));
  });

  it("leaves the size as it was when its records are at fault", () => {
    const before = { size: 1000, shrunkAt: new Date(NOW - 90 * DAY) };
    const size = createPageSize(before);
    size.fail({ offset: 2000, limit: 1000 });
    learn(size, { offset: 2000, limit: 100 });
    size.fail({ offset: 2098, limit: 100 });
    learn(size, { offset: 2098, limit: 50 });
    expect(size).toMatchObject(before);
    expect(size.limitAt(2500)).toBe(100);
    expect(size.limitAt(3000)).toBe(1000);
  });

  it("gives a size up that was only tried", () => {
    const size = createPageSize({ size: 400, shrunkAt: null });
    size.learn(...replyTo(size), true);
    expect(size.size).toBe(1000);
    size.fail({ offset: 0, limit: 1000 });
    expect(size.size).toBe(400);
  });
});

import { describe, expect, test } from "vitest";
import { createHeadJoin } from "../../src/sync/head-join.ts";

let next = 0;
const ids = (count: number) => Array.from({ length: count }, () => String(next++));

describe("the head of a list has joined what is known", () => {
  test("after twenty known records in a row", () => {
    const hasJoined = createHeadJoin(null);
    expect(hasJoined({ ids: ids(20), newRecords: 1, totalCount: 100 })).toBe(false);
    expect(hasJoined({ ids: ids(10), newRecords: 0, totalCount: 100 })).toBe(false);
    expect(hasJoined({ ids: ids(10), newRecords: 0, totalCount: 100 })).toBe(true);
  });

  test("not by records that were read twice", () => {
    const hasJoined = createHeadJoin(null);
    const page = ids(10);
    expect(hasJoined({ ids: page, newRecords: 0, totalCount: null })).toBe(false);
    expect(hasJoined({ ids: page, newRecords: 0, totalCount: null })).toBe(false);
  });

  test("not while known ones stand among new ones", () => {
    const hasJoined = createHeadJoin(null);
    for (let page = 0; page < 50; page++)
      expect(hasJoined({ ids: ids(20), newRecords: 1, totalCount: null })).toBe(false);
  });

  test("not before as many new ones were found as the count grew by", () => {
    const hasJoined = createHeadJoin(100);
    expect(hasJoined({ ids: ids(100), newRecords: 0, totalCount: 101 })).toBe(false);
    expect(hasJoined({ ids: ids(100), newRecords: 1, totalCount: 101 })).toBe(false);
    expect(hasJoined({ ids: ids(20), newRecords: 0, totalCount: 101 })).toBe(true);
  });

  test("though the count grew while it was read", () => {
    const hasJoined = createHeadJoin(100);
    expect(hasJoined({ ids: ids(20), newRecords: 1, totalCount: 101 })).toBe(false);
    expect(hasJoined({ ids: ids(20), newRecords: 0, totalCount: 103 })).toBe(true);
  });

  test("after a thousand known ones whatever the count says", () => {
    const hasJoined = createHeadJoin(100);
    const joined = Array.from({ length: 10 }, () =>
      hasJoined({ ids: ids(100), newRecords: 0, totalCount: 5000 }),
    );
    expect(joined.indexOf(true)).toBe(9);
  });
});

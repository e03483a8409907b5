import { describe, expect, test } from "vitest";
import { createHeadJoin } from "../../../src/mirror/lists/read-head.ts";

let next = 0;
const ids = (count: number) => Array.from({ length: count }, () => String(next++));

describe("the head of a list has joined what is known", () => {
  test("after twenty known records in a row", () => {
    const join = createHeadJoin();
    join.add({ ids: ids(20), isKnown: false });
    join.add({ ids: ids(10), isKnown: true });
    expect(join.isJoined()).toBe(false);
    join.add({ ids: ids(10), isKnown: true });
    expect(join.isJoined()).toBe(true);
  });

  test("not by records that were read twice", () => {
    const join = createHeadJoin();
    const page = ids(10);
    for (let reading = 0; reading < 3; reading++) join.add({ ids: page, isKnown: true });
    expect(join.isJoined()).toBe(false);
  });

  test("not while new ones stand among known ones", () => {
    const join = createHeadJoin();
    for (let page = 0; page < 50; page++) {
      join.add({ ids: ids(19), isKnown: true });
      join.add({ ids: ids(1), isKnown: false });
      expect(join.isJoined()).toBe(false);
    }
  });
});

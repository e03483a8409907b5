import { describe, expect, test } from "vitest";
import { createKnownInARow } from "../../../src/mirror/lists/head-join.ts";

let next = 0;
const ids = (count: number) => Array.from({ length: count }, () => String(next++));

describe("the head of a list has joined what is known", () => {
  test("after twenty known records in a row", () => {
    const join = createKnownInARow();
    join.add(ids(20), false);
    join.add(ids(10), true);
    expect(join.isEnough()).toBe(false);
    join.add(ids(10), true);
    expect(join.isEnough()).toBe(true);
  });

  test("not by records that were read twice", () => {
    const join = createKnownInARow();
    const page = ids(10);
    for (let reading = 0; reading < 3; reading++) join.add(page, true);
    expect(join.isEnough()).toBe(false);
  });

  test("not while new ones stand among known ones", () => {
    const join = createKnownInARow();
    for (let page = 0; page < 50; page++) {
      join.add(ids(19), true);
      join.add(ids(1), false);
      expect(join.isEnough()).toBe(false);
    }
  });
});

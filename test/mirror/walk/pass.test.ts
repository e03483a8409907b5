import { describe, expect, it } from "vitest";
import { createCoveredIds } from "../../../src/mirror/walk/pass.ts";

function covering(...pages: string[]): ReturnType<typeof createCoveredIds> {
  const covered = createCoveredIds();
  for (const page of pages) covered.cover([...page]);
  return covered;
}

describe("the covered ids", () => {
  it("count the records of a page that were not covered", () => {
    const covered = createCoveredIds();
    expect(covered.cover([..."abc"])).toBe(3);
    expect(covered.cover([..."cde"])).toBe(2);
    expect(covered.cover([..."ff"])).toBe(1);
    expect(covered.cover([])).toBe(0);
    expect(covered.size).toBe(6);
  });

  it.each([
    ["nothing that is covered", ["abc"], "def", 0],
    ["one record that is covered", ["abc"], "cde", 1],
    ["only what is covered", ["abc", "cde"], "abcde", 5],
    ["nothing at all", ["abc"], "", 0],
  ])("find the anchors on a page with %s", (_, pages, page, anchors) => {
    expect(covering(...pages).compare([...page])).toEqual({ anchors, groups: anchors, isDisordered: false });
  });

  it.each([
    ["come the other way round", ["abcd"], "dc", true],
    ["come from pages in the wrong order", ["abc", "cde"], "ea", true],
    ["keep their order", ["abcd"], "acd", false],
    ["keep their order around a new record", ["abcd"], "bxc", false],
    ["follow a record that was added between them", ["abcd", "bxc"], "axd", false],
    ["follow a record that was added between them, in another order", ["abcd", "bxc"], "cx", true],
    ["follow some that were added in front of all", ["cd", "xyc"], "xycd", false],
    ["follow some that were added in front of all, in another order", ["cd", "xyc"], "yx", true],
    ["come before one that was added in front of them", ["cd", "xc"], "cx", true],
    ["follow one that was added before it was shown with its neighbour", ["abc", "dxb"], "dxc", false],
  ])("judge anchors that %s", (_, pages, page, isDisordered) => {
    expect(covering(...pages).compare([...page]).isDisordered).toBe(isDisordered);
  });

  it.each([
    ["change places within a tie", "abcd", "acbd", [2], 3, false],
    ["change places within a tie at the start of the page", "abcd", "bacd", [1], 3, false],
    ["leave their tie for the one before", "abcd", "cabd", [2], 3, true],
    ["are all in one tie", "abcd", "dc", [1], 1, false],
    ["are in a tie with a new record", "abcd", "cxd", [1], 2, false],
  ])("count the groups of anchors that %s", (_, covered, page, ties, groups, isDisordered) => {
    expect(covering(covered).compare([...page], ties)).toMatchObject({ groups, isDisordered });
  });

  it("compare without taking the page for covered", () => {
    const covered = covering("abc");
    covered.compare([..."xyz"]);
    expect(covered.size).toBe(3);
    expect(covered.compare([..."xyz"]).anchors).toBe(0);
  });

  it("know all anchors of a long list, and the order of the latest ones", () => {
    const covered = createCoveredIds();
    const ids = Array.from({ length: 10_000 }, (_, at) => `id${at}`);
    for (let at = 0; at < ids.length; at += 100) covered.cover(ids.slice(at, at + 100));
    expect(covered.compare(ids)).toEqual({ anchors: 10_000, groups: 10_000, isDisordered: false });
    expect(covered.compare(["id9999", "id9998"]).isDisordered).toBe(true);
    // These were seen too long ago to say in which order.
    expect(covered.compare(["id2", "id1"])).toEqual({ anchors: 2, groups: 2, isDisordered: false });
  });
});

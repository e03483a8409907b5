import { describe, expect, it } from "vitest";
import { createCoveredIds, createHighestIds } from "../../../src/mirror/walk/pass.ts";

function covering(...pages: string[]): ReturnType<typeof createCoveredIds> {
  const sightings = createCoveredIds();
  for (const page of pages) sightings.cover([...page]);
  return sightings;
}

describe("sightings", () => {
  it("count the records of a page that were not covered", () => {
    const sightings = createCoveredIds();
    expect(sightings.cover([..."abc"])).toBe(3);
    expect(sightings.cover([..."cde"])).toBe(2);
    expect(sightings.cover([..."ff"])).toBe(1);
    expect(sightings.cover([])).toBe(0);
    expect(sightings.size).toBe(6);
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
    const sightings = covering("abc");
    sightings.compare([..."xyz"]);
    expect(sightings.size).toBe(3);
    expect(sightings.compare([..."xyz"]).anchors).toBe(0);
  });

  it("know all anchors of a long list, and the order of the latest ones", () => {
    const sightings = createCoveredIds();
    const ids = Array.from({ length: 10_000 }, (_, at) => `id${at}`);
    for (let at = 0; at < ids.length; at += 100) sightings.cover(ids.slice(at, at + 100));
    expect(sightings.compare(ids)).toEqual({ anchors: 10_000, groups: 10_000, isDisordered: false });
    expect(sightings.compare(["id9999", "id9998"]).isDisordered).toBe(true);
    // These were seen too long ago to say in which order.
    expect(sightings.compare(["id2", "id1"])).toEqual({ anchors: 2, groups: 2, isDisordered: false });
  });
});

/** Three passes: each one takes these ids. */
function after(passes: readonly (readonly string[])[], known?: number) {
  const highest = createHighestIds();
  for (const ids of passes) {
    highest.beginPass();
    for (const id of ids) highest.take(id);
  }
  if (known !== undefined) highest.know(known);
  return highest;
}

describe("a record that is newer than the begin of the previous pass", () => {
  it.each([
    ["is above what was known before the walk, in its second pass", [["7", "9"], []], 8, "9", true],
    ["is not at what was known before the walk", [["7", "9"], []], 8, "8", false],
    ["is above what the first pass took, in the third one", [["7", "9"], ["12"], []], undefined, "10", true],
    ["is not at what the first pass took", [["7", "9"], ["12"], []], undefined, "9", false],
    ["is not above what the first pass took and was known", [["7", "9"], ["12"], []], 11, "10", false],
    ["is unknown in a second pass when nothing was known before", [["7", "9"], []], undefined, "99", false],
    ["is never one whose id is no number", [["7", "9"], []], 8, "new", false],
    ["is never one whose id has too many digits", [["7", "9"], []], 8, "9".repeat(16), false],
  ])("%s", (_, passes, known, id, expected) => {
    expect(after(passes, known).isNewer(id)).toBe(expected);
  });
});

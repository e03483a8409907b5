import { describe, expect, it } from "vitest";
import { createHighestIds } from "../../../src/mirror/walk/sightings.ts";

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

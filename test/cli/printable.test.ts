import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable } from "../../src/cli/printable.ts";

describe("printable", () => {
  it.each([
    ["clears \u001b[2J the screen", "clears ␛[2J the screen"],
    ["two\nlines\r\n", "two␊lines␍␊"],
    ["nul \u0000 and delete \u007f", "nul ␀ and delete ␡"],
    ["8-bit \u009b31m", "8-bit \ufffd31m"],
    ["turned \u202eround", "turned \ufffdround"],
    ["half \ud83d pair", "half \ufffd pair"],
    ["Ünïcode 日本語 👩‍👩‍👧", "Ünïcode 日本語 👩‍👩‍👧"],
  ])("%j is shown as %j", (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it("keeps newlines where they are wanted", () => {
    expect(printable("a\nb\u001b", { keepNewlines: true })).toBe("a\nb␛");
  });

  it("leaves no control character in any text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !/\p{Cc}|\p{Cs}/u.test(printable(text))));
  });
});

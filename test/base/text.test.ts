import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { jsonText, printable, printableColoured, printableJson, sized } from "../../src/base/text.ts";
import { anyCharacter, hostileJson } from "../support/wire-records.ts";

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
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => !/\p{Cc}|\p{Cs}/u.test(printable(text))),
    );
  });
});

test.for([
  [0, "0.0 MB"],
  [280_149_000, "280.1 MB"],
  [999_900_000, "999.9 MB"],
  [70_506_800_000, "70.5 GB"],
] as const)("%i bytes are written as %s", ([bytes, shown]) => {
  expect(sized(bytes)).toBe(shown);
});

describe("printableJson", () => {
  it("gives the same JSON without a control character", { tags: ["long"] }, () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: anyCharacter }), (json) => {
        const text = printableJson(json);
        expect(JSON.parse(text)).toEqual(JSON.parse(json));
        expect(text).not.toMatch(/\p{Cc}/u);
      }),
    );
    expect(printableJson('{\n"\u009b\u202e": 1}')).toBe('{\n"\\u009b\\u202e": 1}');
  });
});

describe("printableColoured", () => {
  it("keeps colours and nothing else that a terminal would obey", () => {
    expect(printableColoured("\u001b[33mWARN\u001b[39m \u001b[2J \u009b31m \u202e\n")).toBe(
      "\u001b[33mWARN\u001b[39m \\u001b[2J \\u009b31m \\u202e\n",
    );
  });
});

describe("jsonText", () => {
  it("writes what JSON.stringify writes, and of a long value its beginning", () => {
    fc.assert(
      fc.property(hostileJson, fc.nat(60), (value, maxLength) => {
        const whole = JSON.stringify(value);
        expect(jsonText(value, 1_000_000)).toBe(whole);
        expect(jsonText(value, maxLength)).toBe(whole.slice(0, maxLength));
      }),
    );
  });

  it("writes a value that is nested deeper than any stack", { tags: ["long"] }, () => {
    const depth = 300_000;
    const text = `${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`;
    expect(jsonText(JSON.parse(text), Number.POSITIVE_INFINITY) === text).toBe(true);
  });
});

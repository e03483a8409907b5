import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanJson, cleanText } from "../../../src/mirror/normalize/clean-text.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import { hostileJson, hostileText } from "../../support/wire-records.ts";

describe("cleanText", () => {
  it.each([
    ["plain", "plain", 0],
    ["a\u0000b\u0000", "a\uFFFDb\uFFFD", 1],
    ["\ud83d", "\uFFFD", 0],
    ["\udc00\ud800", "\uFFFD\uFFFD", 0],
    ["\ud83d\ude00", "\ud83d\ude00", 0],
    ["\u0000\ud800", "\uFFFD\uFFFD", 1],
    ["\u0001\u007f\u001b[2J", "\u0001\u007f\u001b[2J", 0],
  ])("%j becomes %j", (text, cleaned, nul) => {
    const replacements = { nul: 0 };
    expect(cleanText(text, replacements)).toBe(cleaned);
    expect(replacements.nul).toBe(nul);
  });

  it("gives what UTF-8 can carry, and leaves it alone the second time", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const cleaned = cleanText(text, { nul: 0 });
        expect(Buffer.from(cleaned).toString()).toBe(cleaned);
        expect(cleaned).not.toContain("\u0000");
        expect(cleanText(cleaned, { nul: 0 })).toBe(cleaned);
        expect(cleaned).toHaveLength(text.length);
      }),
    );
  });
});

describe("cleanJson", () => {
  it("cleans keys and texts at any depth and keeps all else", () => {
    const sent = JSON.parse('{"__proto__": {"a\\u0000": ["\\ud800", 1.5, null, true]}, "constructor": "x"}');
    const cleaned = cleanJson(sent, { nul: 0 });
    expect(JSON.stringify(cleaned)).toBe(
      '{"__proto__":{"a\uFFFD":["\uFFFD",1.5,null,true]},"constructor":"x"}',
    );
  });

  it("leaves a clean value as it is", () => {
    fc.assert(
      fc.property(hostileJson, (value) => {
        const cleaned = cleanJson(value, { nul: 0 });
        expect(canonicalJson(cleanJson(cleaned, { nul: 0 }))).toBe(canonicalJson(cleaned));
      }),
    );
  });
});

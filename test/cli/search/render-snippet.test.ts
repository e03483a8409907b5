import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readHighlights, renderSnippet } from "../../../src/cli/get/render-hits.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";

const plain = (html: string) => renderSnippet(html, { colour: false, columns: undefined });

describe("readHighlights", () => {
  it.each([
    ['a <span class="highlighted">b</span> c', "a [b] c"],
    ["a <span class='highlighted'>b</span><em>c</em>", "a [b][c]"],
    ["<EM>a</EM>", "[a]"],
    ["<em></em>a", "a"],
    ["<em>a", "<em>a"],
    ["<b>a</b> <span>b</span>", "<b>a</b> <span>b</span>"],
    ["<em>a <em>b</em> c</em>", "[a <em>b] c</em>"],
    ["&lt;em&gt;a&lt;/em&gt;", "<em>a</em>"],
    ["&amp;lt; &quot;&#39;&#x27;&apos; &para;", "&lt; \"''' ¶"],
    ["&unknown; &constructor; &#x110000; &#xd800; &", "&unknown; &constructor; � � &"],
    ["<em>&lt;b&gt;</em>", "[<b>]"],
  ])("reads %s", (html, expected) => {
    const text = readHighlights(html).map(({ text, isMatch }) => (isMatch ? `[${text}]` : text));
    expect(text.join("")).toBe(expected);
  });

  it("reads a snippet of unclosed marks without long work", async () => {
    expect(await cpuMsOf(() => readHighlights("<em>".repeat(1_000_000)))).toBeLessThan(5000);
  });
});

describe("renderSnippet", () => {
  it("puts asterisks around the words, on one line", () => {
    expect(plain("a\n  <em>b</em>c\td")).toEqual(["a *b*c d"]);
  });

  it("shows the words bold and underlined where there are colours", () => {
    const [line = ""] = renderSnippet("a <em>b</em>", { colour: true, columns: 80 });
    expect(line).toBe("a \u001b[1m\u001b[4mb\u001b[24m\u001b[22m");
  });

  it("breaks lines between words and keeps the marks", () => {
    const lines = renderSnippet("one two <em>three four</em> five", { colour: false, columns: 13 });
    expect(lines).toEqual(["one two *three*", "*four* five"]);
  });

  it("cuts a long snippet", () => {
    expect(plain("word ".repeat(1000))[0]).toMatch(/^(word ){79}word…$/);
  });

  it("shows hostile characters harmless, those of entities too", () => {
    expect(plain("\u001b[31m&#27;[2J<em>&#x202e;\u0000</em>")).toEqual(["␛[31m␛[2J*�␀*"]);
  });

  it("prints nothing but text and its own marks, whatever comes", () => {
    const pieces = fc.constantFrom(
      "<em>",
      "</em>",
      '<span class="highlighted">',
      "</span>",
      "&#27;",
      "\u001b[2J",
      " ",
      "é",
      "👩‍👧",
      "\ud800",
      "\n",
      "x",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), fc.boolean(), (parts, colour) => {
        const lines = renderSnippet(parts.join(""), { colour, columns: 10 });
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        for (const line of lines) expect(stripVTControlCharacters(line)).not.toMatch(/[\u0000-\u001f]/);
        if (!colour) expect(lines.join("")).not.toContain("\u001b");
      }),
    );
  });
});

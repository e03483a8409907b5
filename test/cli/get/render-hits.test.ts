import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readHighlights, renderHits, renderSnippet } from "../../../src/cli/get/render-hits.ts";
import { describeAnchorHits, describeDocHits, describeFileHits } from "../../../src/cli/get/search.ts";
import type { FileHit } from "../../../src/client/parse-record.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";

const PLAIN = { colour: false, columns: undefined };

const fileHit = (slug: string, text: string): FileHit => ({
  id: "1",
  path: "guide/a.html",
  absolute_url: `/docs/${slug}/en/latest/guide/a.html`,
  project: { id: "9", slug, extra: {} },
  text,
  extra: {},
});

describe("renderHits", () => {
  it("shows each file with its address and its snippet", () => {
    const hits = [fileHit("pip", 'an <span class="highlighted">egg</span>'), fileHit("flask", "")];
    expect(renderHits(describeFileHits(hits, 1, undefined), PLAIN)).toBe(`\
project  path
pip      guide/a.html
    /docs/pip/en/latest/guide/a.html
    an *egg*
flask    guide/a.html
    /docs/flask/en/latest/guide/a.html

2 hits
`);
  });

  it.each([
    ["its slug", "pip"],
    ["its id", "9"],
  ])("narrows files to a project by %s, and says so", (_, project) => {
    const others = Array.from({ length: 19 }, () => ({ ...fileHit("flask", ""), project: null }));
    const text = renderHits(describeFileHits([...others, fileHit("pip", "")], 3, project), PLAIN);
    expect(text.split("\n")).toHaveLength(6);
    expect(text).toContain(`\n\n1 of 20 hits on page 3 is in ${project}; `);
    expect(text).toMatch(/; the service searches all projects; there may be more: --page 4\n$/);
  });

  it("shows anchors as addresses alone, whole on a narrow terminal too", () => {
    const address = `http//docs.example.org/${"a".repeat(200)}#x`;
    const found = describeAnchorHits([address, "b"]);
    expect(renderHits(found, { colour: false, columns: 40 })).toBe(`${address}\nb\n\n2 hits\n`);
  });

  it("shows documents with all their snippets, and how many hits there are", () => {
    const names = { link: "http://x/", path: ["a"], project: ["pip"], title: ["One", "Two"], version: [] };
    const highlight = { content: ["<em>a</em> b", "c"], extra: {} };
    const hit = { fields: { ...names, extra: {} }, highlight, extra: {} };
    const found = describeDocHits({ total: 57, hits: [hit] });
    const text = renderHits(found, PLAIN);
    expect(text).toBe("title     path\nOne, Two  a\n    http://x/\n    *a* b\n    c\n\n1 of 57 hits\n");
  });

  it("says that there are no hits", () => {
    for (const found of [describeAnchorHits([]), describeFileHits([], 1, undefined)])
      expect(renderHits(found, PLAIN)).toBe("no hits\n");
  });

  it("lets no control character through, from any field", () => {
    const evil = "\u001b[2J\u0007\u202e\n\r\u009b31m&#27;[2J&#x9b;";
    const fields = { path: evil, absolute_url: evil, project: { id: "9", slug: evil, extra: {} } };
    const hit = { ...fileHit("pip", `<em>${evil}</em>`), ...fields };
    const found = describeFileHits([hit], 1, evil);
    for (const columns of [undefined, 40]) {
      const text = renderHits(found, { colour: false, columns });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(text).toContain("␛[2J");
    }
  });
});

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
    const tags = ["<em>", "</em>", '<span class="highlighted">', "</span>"];
    const pieces = fc.constantFrom(...tags, "&#27;", "\u001b[2J", " ", "é", "👩‍👧", "\ud800", "\n", "x");
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

import { describe, expect, it } from "vitest";
import {
  EM,
  foldWords,
  HIGHLIGHTED,
  parseQuery,
  snippet,
} from "../../../src/mirror/content/search-contents.ts";

const em = (text: string, q: string) => snippet(text, parseQuery(q)?.words ?? [], EM);

describe("snippet", () => {
  it("marks each word and shows the text around the first one", () => {
    const text = `${"one two three four five ".repeat(4)}harbor lights and Harbor walls ${"six ".repeat(40)}`;
    expect(snippet(text, ["harbor", "walls"], HIGHLIGHTED)).toBe(
      '...four five one two three four five <span class="highlighted">harbor</span> lights and ' +
        '<span class="highlighted">Harbor</span> <span class="highlighted">walls</span> six six six six six six six six six...',
    );
  });

  it.each<[what: string, text: string, q: string, html: string]>([
    ["a short text whole", "a harbor.", "harbor", "a <em>harbor</em>."],
    ["whole words only", "harbors harbor_x harbor", "harbor", "harbors <em>harbor</em>_x <em>harbor</em>"],
    ["words of any script", "Žluťoučký KŮŇ", "kůň žluťoučký", "<em>Žluťoučký</em> <em>KŮŇ</em>"],
    ["each sign of a script without blanks", "日本語の本", "本語", "日<em>本</em><em>語</em>の<em>本</em>"],
    ["the beginning where nothing matches", "abc", "x", "abc"],
    ["nothing of an empty text", "", "x", ""],
    ["a text without blanks from its match on", `${"-".repeat(60)}harbor`, "harbor", "...<em>harbor</em>"],
    [
      "all signs of HTML escaped",
      `<script>alert("x")</script> & 'q' <em>`,
      "alert em script",
      "&lt;<em>script</em>&gt;<em>alert</em>(&quot;x&quot;)&lt;/<em>script</em>&gt; &amp; &#39;q&#39; &lt;<em>em</em>&gt;",
    ],
    [
      "no half of a pair at its end",
      `harbor ${"x".repeat(92)}😀y`,
      "harbor",
      `<em>harbor</em> ${"x".repeat(92)}...`,
    ],
  ])("shows %s", (_, text, q, html) => {
    expect(em(text, q)).toBe(html);
  });
});

describe("a query", () => {
  it.each<[q: string, words: string[] | undefined]>([
    ["os.path.join()", ["os", "path", "join"]],
    ["  Two\ttwo  ", ["two"]],
    ["a & !b | 'c' :* <-> (d) \\", ["a", "b", "c", "d"]],
    ["100% _x_", ["100", "x"]],
    ["本語", ["本", "語"]],
    ["a\0b\ud800", ["a", "b"]],
    ["e\u0301", ["é"]],
    ["", undefined],
    ["%_'\\\"", undefined],
    ["x".repeat(1001), undefined],
    ["𐐷".repeat(600), undefined],
  ])("%j has the words %j", (q, words) => {
    expect(parseQuery(q)?.words).toEqual(words);
  });

  it("is folded in the same way again", () => {
    const folded = foldWords("İstanbul STRASSE ﬁn 日本 1.5e3");
    expect(foldWords(folded)).toBe(folded);
  });
});

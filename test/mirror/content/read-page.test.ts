import { describe, expect, it } from "vitest";
import { readPage } from "../../../src/mirror/content/read-page.ts";

const GENERATED = `<!DOCTYPE html><html><head><meta charset="utf-8"><title>Install &amp; run — Foo 1.0 documentation</title>
<style>p { color: red }</style></head><body>
<div class="sphinxsidebar" role="navigation"><ul><li><a href="#x" id="in-menu">menu</a></li></ul></div>
<div class="document" role="main"><section id="install"><span id="old-name"></span>
<h1>Install &amp; run<a class="headerlink" href="#install">¶</a></h1>
<p>Call <code>os.path</code>.<em>join</em>() now&nbsp;&lt;b&gt;.</p>
<dl><dt id="foo.bar"><code>foo.bar</code>(x)</dt><dd>Bars.</dd></dl>
<p>before <a name="word">the word</a> after</p><script>alert("no")</script></section></div>
<footer id="foot">made by a generator</footer></body></html>`;

describe("readPage", () => {
  it("reads a generated page as a visitor sees it", () => {
    expect(readPage(GENERATED)).toEqual({
      title: "Install & run",
      text: "Install & run Call os.path.join() now <b>. foo.bar(x) Bars. before the word after",
      anchors: [
        { id: "install", text: "Install & run" },
        { id: "old-name", text: "Install & run" },
        { id: "foo.bar", text: "foo.bar(x)" },
        { id: "word", text: "the word" },
      ],
    });
  });

  it.each<[what: string, html: string, title: string]>([
    ["the title", "<title>One</title><h1>Other</h1>", "One"],
    ["the heading that the title begins with", "<title>One · Foo</title><h1>Foo</h1><h1>One</h1>", "One"],
    [
      "the title where a heading is only the beginning of a word",
      "<title>One.html</title><h1>One</h1>",
      "One.html",
    ],
    ["the first heading of a page without a title", "<h1>One ¶</h1><h1>Two</h1>", "One"],
    ["nothing for a page without both", "<p>text</p>", ""],
    ["no title of a picture", "<svg><title>Arrow</title></svg><p>x", ""],
    ["one line of a title of many", "<title>\n One\n  two </title>", "One two"],
    ["the title's own signs", "<title>a < b &amp; c</title>", "a < b & c"],
  ])("takes for the title %s", (_, html, title) => {
    expect(readPage(html).title).toBe(title);
  });

  it.each<[what: string, html: string, text: string]>([
    ["the whole body of a page without a main part", "<body><p>one</p><p>two</p></body>", "one two"],
    ["the main part alone", "<p>a</p><main><p>b</p></main><p>c</p>", "b"],
    ["all of a page whose main part is empty", "<p>a</p><main> </main>", "a"],
    ["no menu", "<nav>menu <nav>inner</nav> more</nav>text", "text"],
    ["the rest of a page with a menu that never ends", "<nav>menu<p>text", "menu text"],
    ["no code of the page", "<script>a<p>b</p></script><style>c</style><template>d</template>e", "e"],
    ["the text after a picture that ends in its own tag", "<svg/>text", "text"],
    ["no comments", "a<!-- <p>no -->b<![CDATA[no]]>c", "abc"],
    ["words of one line together", "<b>pre</b>fix", "prefix"],
    ["words of two cells apart", "<td>a</td><td>b</td>", "a b"],
    ["no control characters", "a\u0000b\u001b[31mc&#0;d&#27;e", "a b [31mc�d e"],
    ["no half pairs", "a\ud800b&#xD800;c", "a�b�c"],
    ["characters in one form", "e\u0301", "é"],
    ["nothing of nothing", "", ""],
  ])("reads %s", (_, html, text) => {
    expect(readPage(html).text).toBe(text);
  });

  it.each<[what: string, html: string, anchors: [id: string, text: string][]]>([
    ["an anchor before its heading", "<a id=x></a><h2>Head</h2><p>text</p>", [["x", "Head"]]],
    ["the first of two equal ids", "<h2 id=x>One</h2><h2 id=x>Two</h2>", [["x", "One"]]],
    ["no anchor without a text", "<p>text</p><div id=x></div>", []],
    ["no anchor without an id", '<h2 id="">One</h2><input name=x>two', []],
    ["the sign of the link off", "<h2 id=x>One #</h2>", [["x", "One"]]],
    ["at most 200 characters", `<p id=x>${"y".repeat(300)}</p>`, [["x", "y".repeat(200)]]],
    ["no id that is too long", `<p id="${"x".repeat(301)}">y</p>`, []],
    ["an id with any signs", '<h2 id="a b&quot;<i>&#39;\u0000">One</h2>', [[`a b"<i>' `, "One"]]],
  ])("reads of anchors: %s", (_, html, anchors) => {
    expect(readPage(html).anchors.map(({ id, text }) => [id, text])).toEqual(anchors);
  });

  it("bounds title, text and anchors", () => {
    const anchors = Array.from({ length: 2005 }, (_, n) => `<h2 id=a${n}>${n}</h2>`).join("");
    const page = readPage(`<title>${"t".repeat(9999)}</title><p>${"😀 ".repeat(400_000)}</p>${anchors}`);
    expect(page.title).toHaveLength(500);
    expect(page.text.length).toBeLessThanOrEqual(400_000);
    expect(page.text.isWellFormed()).toBe(true);
    expect(page.anchors).toHaveLength(2000);
  });

  // A parser that keeps the open tags needs minutes for each of the first three.
  it.each<[what: string, html: string]>([
    ["a million open tags", "<div>".repeat(1_000_000)],
    ["many open tags of one kind and their ends", "<b>".repeat(300_000) + "</b>".repeat(300_000)],
    ["ends without a beginning", "<i>".repeat(200_000) + "</u>".repeat(200_000)],
    ["ids in a row", Array.from({ length: 100_000 }, (_, n) => `<div id=a${n}>`).join("")],
    ["an attribute of megabytes", `<a id='${"&amp;".repeat(1_000_000)}`],
    ["a name of megabytes", `<${"a".repeat(4_000_000)} ${"b".repeat(1_000_000)}=c>`],
    ["comments that never end", "<!--".repeat(500_000)],
    ["signs that open nothing", "<&<&".repeat(500_000)],
    ["blanks", " ".repeat(5_000_000)],
  ])("is quick with %s", { timeout: 20_000 }, (_, html) => {
    expect(readPage(html).title).toBe("");
  });
});

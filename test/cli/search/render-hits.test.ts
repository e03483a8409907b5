import { describe, expect, it } from "vitest";
import { renderHits } from "../../../src/cli/get/render-hits.ts";
import {
  describeAnchorHits,
  describeDocHits,
  describeFileHits,
} from "../../../src/cli/search/describe-hits.ts";
import type { FileHit } from "../../../src/client/parse-record.ts";

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
    expect(renderHits(describeFileHits(hits, 1, undefined), PLAIN)).toBe(
      [
        "project  path",
        "pip      guide/a.html",
        "    /docs/pip/en/latest/guide/a.html",
        "    an *egg*",
        "flask    guide/a.html",
        "    /docs/flask/en/latest/guide/a.html",
        "",
        "2 hits\n",
      ].join("\n"),
    );
  });

  it.each([
    ["its slug", "pip"],
    ["its id", "9"],
  ])("narrows files to a project by %s, and says so", (_, project) => {
    const others = Array.from({ length: 19 }, () => ({ ...fileHit("flask", ""), project: null }));
    const text = renderHits(describeFileHits([...others, fileHit("pip", "")], 3, project), PLAIN);
    expect(text.split("\n")).toHaveLength(6);
    expect(text).toMatch(
      new RegExp(
        `\n\n1 of 20 hits on page 3 is in ${project}; the service searches all projects; there may be more: --page 4\n$`,
      ),
    );
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
    const found = describeDocHits({ total: 57, max_score: 1, hits: [hit], extra: {} });
    const text = renderHits(found, PLAIN);
    expect(text).toBe("title     path\nOne, Two  a\n    http://x/\n    *a* b\n    c\n\n1 of 57 hits\n");
  });

  it("says that there are no hits", () => {
    for (const found of [describeAnchorHits([]), describeFileHits([], 1, undefined)])
      expect(renderHits(found, PLAIN)).toBe("no hits\n");
  });

  it("lets no control character through, from any field", () => {
    const evil = "\u001b[2J\u0007\u202e\n\r\u009b31m&#27;[2J&#x9b;";
    const hit = {
      ...fileHit("pip", `<em>${evil}</em>`),
      path: evil,
      absolute_url: evil,
      project: { id: "9", slug: evil, extra: {} },
    };
    const found = describeFileHits([hit], 1, evil);
    for (const columns of [undefined, 40]) {
      const text = renderHits(found, { colour: false, columns });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(text).toContain("␛[2J");
    }
  });
});

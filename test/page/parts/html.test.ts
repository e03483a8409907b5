import { describe, expect, it } from "vitest";
import { counted } from "../../../src/base/text.ts";
import { percent, shorten, targetWords, wholePercent } from "../../../src/page/parts/html.ts";
import { kindLabel } from "../../../src/page/parts/kinds.ts";
import {
  buildHref,
  projectHref,
  segmentAfter,
  webAddress,
  withQuery,
} from "../../../src/page/parts/links.ts";

describe("percent", () => {
  it.each([
    [0, "0.0 %"],
    [1e-17, "0.0 %"],
    [0.0001, "0.1 %"],
    [0.86149, "86.1 %"],
    [0.99999, "99.9 %"],
    [1 - 1e-16, "100.0 %"],
    [1, "100.0 %"],
  ])("%d is %s: what is not all, or not nothing, never looks so", (share, words) => {
    expect(percent(share).replace("\u00a0", " ")).toBe(words);
  });
});

describe("shorten", () => {
  it("cuts, and leaves nothing that a browser would obey", () => {
    expect(shorten("x".repeat(100), 10)).toBe(`${"x".repeat(9)}…`);
    expect(shorten("\u202eabc\u001b[2J")).toBe("\ufffdabc␛[2J");
    expect(shorten("12345678😀", 10)).toBe("12345678😀");
    expect(shorten("12345678😀90", 10).isWellFormed()).toBe(true);
    // A family is one character to a reader, and eight units; a letter below hundreds of marks is cut.
    expect(shorten("1234567👨‍👩‍👧90", 10)).toBe("1234567…");
    expect(shorten(`a${"\u0301".repeat(300)}`, 10)).toBe(`a${"\u0301".repeat(8)}…`);
  });
});

describe("a link", () => {
  const NAMES = ["pip", "a/b", "a?b#c&d=e", "100%25", "..", ".", "", "\u202e", "<script>", "%2e%2e", "a b"];
  it.each(NAMES)("to %j leads back to it", (name) => {
    for (const [prefix, href] of [
      ["/project", projectHref(name)],
      ["/build", buildHref(name)],
    ] as const) {
      const url = new URL(href, "http://localhost");
      const [query] = [...url.searchParams.values()];
      expect(url.pathname.startsWith(prefix)).toBe(true);
      expect(query ?? segmentAfter(`${prefix}/`, url.href)).toBe(name);
    }
  });

  it("with a query leaves out what is not given, and keeps the one that is there", () => {
    const query = { since: "", until: undefined, limit: 5 };
    expect(withQuery("/project?slug=..", query)).toBe("/project?slug=..&since=&limit=5");
    expect(withQuery("/", {})).toBe("/");
  });

  it("that is no single segment, or cannot be decoded, names nothing", () => {
    expect(segmentAfter("/project/", "http://localhost/project/a/b")).toBeNull();
    expect(segmentAfter("/project/", "http://localhost/project/%ff")).toBeNull();
    expect(segmentAfter("/project/", "http://localhost/project/pip/")).toBe("pip");
  });
});

describe("an address of the service", () => {
  it.each([
    ["https://docs.example.org/api/", null, "https://docs.example.org/api/"],
    ["http//docs.example.org/", null, "http://docs.example.org/"],
    ["/projects/pip/", "https://docs.example.org/", "https://docs.example.org/projects/pip/"],
    ["/projects/pip/", null, null],
    ["javascript:alert(1)", "https://docs.example.org/", null],
    ["data:text/html,x", null, null],
    ["https://user:secret@docs.example.org/", null, null],
    ["  ", "https://docs.example.org/", null],
    [null, "https://docs.example.org/", null],
    [`https://docs.example.org/${"x".repeat(3000)}`, null, null],
  ])("%j below %j leads to %j", (text, base, href) => {
    expect(webAddress(text, base ?? undefined)).toBe(href);
  });
});

describe("words of people", () => {
  it("stand for names of the service; what is not known stays as it is", () => {
    expect(kindLabel("docs_source")).toBe("Docs warning");
    expect(kindLabel("vcs")).toBe("Source not reachable");
    expect(kindLabel("our own class")).toBe("our own class");
    expect(kindLabel("constructor")).toBe("constructor");
    expect(targetWords({ version_slug: "latest", type: "html" })).toBe("latest · html");
    expect(targetWords({ version_slug: "(unknown)", type: "(none)" })).toBe(
      "version not known · format not known",
    );
    expect([counted(1, "project"), counted(1200, "project")]).toEqual(["1 project", "1,200 projects"]);
    expect([0.999, 0.001, 1].map(wholePercent)).toEqual(["99\u00a0%", "1\u00a0%", "100\u00a0%"]);
  });
});

import { describe, expect, it } from "vitest";
import { buildHref, projectHref, segmentAfter, withQuery } from "../../src/page/links.ts";
import { applicable, readPageFilters, scopeWords } from "../../src/page/page-filters.ts";
import { percent, percentRange, shorten } from "../../src/page/words.ts";

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

  it("of an interval has one sign", () => {
    expect(percentRange(0.5981, 0.8581)).toBe("59.8–85.8\u00a0%");
  });
});

describe("shorten", () => {
  it("cuts, and leaves nothing that a browser would obey", () => {
    expect(shorten("x".repeat(100), 10)).toBe(`${"x".repeat(9)}…`);
    expect(shorten("\u202eabc\u001b[2J")).toBe("\ufffdabc␛[2J");
    expect(shorten("12345678😀", 10)).toBe("12345678😀");
    expect(shorten("12345678😀90", 10).isWellFormed()).toBe(true);
  });
});

describe("a link", () => {
  it.each([
    "pip",
    "a/b",
    "a?b#c&d=e",
    "100%25",
    "..",
    ".",
    "",
    "\u202e",
    "<script>",
    "%2e%2e",
    "a b",
  ])("to %j leads back to it", (name) => {
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
    expect(withQuery("/project?slug=..", { since: "", until: undefined, limit: 5 })).toBe(
      "/project?slug=..&since=&limit=5",
    );
    expect(withQuery("/", {})).toBe("/");
  });

  it("that is no single segment, or cannot be decoded, names nothing", () => {
    expect(segmentAfter("/project/", "http://localhost/project/a/b")).toBeNull();
    expect(segmentAfter("/project/", "http://localhost/project/%ff")).toBeNull();
    expect(segmentAfter("/project/", "http://localhost/project/pip/")).toBe("pip");
  });
});

describe("page filters", () => {
  it("go back 90 days unless told otherwise, and an empty since means all", () => {
    const read = (query: string) => readPageFilters(new URLSearchParams(query), "2026-11-21");
    expect(read("")).toEqual({ since: "2026-08-24" });
    expect(read("until=2026-03-31")).toEqual({ since: "2026-01-01", until: "2026-03-31" });
    expect(read("until=2030-01-01T12:00Z")).toEqual({ since: "2026-08-24", until: "2030-01-01T12:00Z" });
    expect(read("until=soon")).toEqual({ since: "2026-08-24", until: "soon" });
    expect(read("since=&type=%20html%20&other=1")).toEqual({ type: "html" });
    expect(read("since=2026-01-01&until=2026-02-01&version=latest")).toEqual({
      since: "2026-01-01",
      until: "2026-02-01",
      version: "latest",
    });
  });

  it("that a block does not heed are left out of its question, and said", () => {
    const filters = { since: "2026-01-01", type: "html" };
    expect(applicable(filters, ["since", "until"])).toEqual({ since: "2026-01-01" });
    expect(scopeWords(filters, ["since", "until"])).toBe("2026-01-01 to today, all types");
    expect(scopeWords(filters, ["type"])).toBe("Type html");
    expect(scopeWords({ since: "2026-01-01" }, [])).toBe("");
  });
});

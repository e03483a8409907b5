import { describe, expect, it } from "vitest";
import { parseRobots } from "../../../src/mirror/api/robots.ts";

/** The addresses that a file refuses, of these. */
function refused(text: string, paths: readonly string[]): string[] {
  const robots = parseRobots(text);
  return paths.filter((path) => robots.findRefusal(new URL(path, "http://docs.example.org")) !== null);
}

describe("robots.txt", () => {
  it.each<[what: string, text: string, refused: string[], allowed: string[]]>([
    ["nothing in it refuses nothing", "", [], ["/", "/a"]],
    ["a page of HTML refuses nothing", "<!doctype html>\n<p>User-agent: *<p>Disallow: /", [], ["/a"]],
    ["a rule is a beginning", "User-agent: *\nDisallow: /a", ["/a", "/ab", "/a/b?c"], ["/", "/b/a"]],
    ["an empty rule allows all", "User-agent: *\nDisallow:", [], ["/", "/a"]],
    ["rules before any name are nobody's", "Disallow: /\nUser-agent: *\nDisallow: /b", ["/b"], ["/a"]],
    [
      "our own rules replace those of all",
      "User-agent: *\nDisallow: /\n\nUser-agent: DocMirror/1.0\nDisallow: /b",
      ["/b"],
      ["/a"],
    ],
    [
      "the rules of others say nothing",
      "User-agent: docmirror-plus\nUser-agent: other\nDisallow: /",
      [],
      ["/a"],
    ],
    [
      "several names share rules",
      "User-agent: other\nUser-agent: docmirror\nDisallow: /a\n\nUser-agent: *\nDisallow: /",
      ["/a"],
      ["/b"],
    ],
    [
      "groups of one name are one",
      "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /c\nUser-agent: *\nDisallow: /b",
      ["/a", "/b"],
      ["/c"],
    ],
    [
      "the longest rule decides",
      "User-agent: *\nAllow: /a/b\nDisallow: /a\nDisallow: /a/b/c",
      ["/a", "/a/b/c"],
      ["/a/b", "/a/bd"],
    ],
    ["of equally long ones the kind one", "User-agent: *\nDisallow: /a\nAllow: /a", [], ["/a"]],
    [
      "* is any text, $ the end",
      "User-agent: *\nDisallow: /*/old/*.html$\nDisallow: *.pdf$",
      ["/x/old/y.html", "/x/y.pdf"],
      ["/old/y.html", "/x/old/y.html?z", "/x.pdf/y"],
    ],
    ["$ alone", "User-agent: *\nDisallow: /$", ["/"], ["/a"]],
    ["what overlaps does not fit twice", "User-agent: *\nDisallow: /ab*ba$", ["/abba", "/abxba"], ["/aba"]],
    [
      "escapes are one spelling",
      "User-agent: *\nDisallow: /%7ea\nDisallow: /ü\nDisallow: /b%2fc",
      ["/~a", "/%7Ea", "/%C3%BC", "/ü", "/b%2Fc"],
      ["/b/c"],
    ],
    [
      "comments, marks, blanks and any end of line",
      "\uFEFFUSER-AGENT : * # all\r\rdisallow:/a # so\r\nSitemap: /x\nDisallow: /b",
      ["/a", "/b"],
      ["/c"],
    ],
  ])("%s", (_, text, no, yes) => {
    expect(refused(text, [...no, ...yes])).toEqual(no);
  });

  it("says which rule it is", () => {
    const { findRefusal } = parseRobots("User-agent: *\nDisallow: /a");
    expect(findRefusal(new URL("http://x/a/b"))).toBe("Disallow: /a");
  });

  it.each([
    ["User-agent: *\nCrawl-delay: 2.5", 2500],
    ["User-agent: *\nCrawl-delay: 1\nCrawl-delay: 3", 3000],
    ["User-agent: other\nCrawl-delay: 9\n\nUser-agent: docmirror\nDisallow: /a", 0],
    ["User-agent: *\nCrawl-delay: soon", 0],
    ["User-agent: *\nCrawl-delay: -1", 0],
    ["User-agent: *\nCrawl-delay: Infinity", 0],
  ])("%j waits for %i ms", (text, delayMs) => {
    expect(parseRobots(text).delayMs).toBe(delayMs);
  });

  it("costs little, whatever stands in it", () => {
    const stars = `User-agent: *\nDisallow: /${"a*".repeat(5000)}b$\n${"Disallow: /x\n".repeat(30_000)}`;
    const from = process.cpuUsage();
    expect(refused(stars, [`/${"a".repeat(20_000)}`])).toEqual([]);
    expect(process.cpuUsage(from).user / 1e6).toBeLessThan(2);
  });
});

import { describe, expect, it } from "vitest";
import { nearestChoices, readPageNumber, renderPager, shownPages } from "../../../src/page/parts/links.ts";
import { textOf } from "../../support/page-text.ts";

const FACTS = { path: "/projects", kept: { q: "a&b" }, perPage: 25, noun: "project" };

describe("the number of a page", () => {
  it.each([
    ["", 1],
    ["page=3", 3],
    ["page=0", 1],
    ["page=-2", 1],
    ["page=1.5", 1],
    ["page=x", 1],
    ["page=1e9", 1_000_000],
    ["page=1e99", 1],
  ])("of %j is %d", (query, page) => {
    expect(readPageNumber(new URLSearchParams(query))).toBe(page);
  });
});

describe("the pages that are linked", () => {
  it.each([
    [1, 1, [1]],
    [1, 3, [1, 2, 3]],
    [1, 9, [1, 2, 3, null, 9]],
    [5, 9, [1, null, 4, 5, 6, null, 9]],
    [9, 9, [1, null, 8, 9]],
    [3, 4, [1, 2, 3, 4]],
  ])("of page %d of %d are the first, the last and the near ones", (page, last, shown) => {
    expect(shownPages(page, last)).toEqual(shown);
  });
});

describe("the pager", () => {
  it("is left out where all rows are shown", async () => {
    expect(renderPager({ ...FACTS, page: 1, total: 25 })).toBe("");
    expect(String(await renderPager({ ...FACTS, page: 1, total: 26 }))).toMatch(/page=2" rel="next"/);
  });

  it("says which rows are shown and keeps the filters; the first page has no number", async () => {
    const pager = String(await renderPager({ ...FACTS, page: 2, total: 1060 }));
    expect(textOf(pager)).toContain("26–50 of 1,060 projects");
    expect(pager).toContain('<a href="/projects?q=a%26b" rel="prev">');
    expect(pager).toContain('<a href="/projects?q=a%26b&amp;page=3" rel="next">');
    expect(pager).toContain('href="/projects?q=a%26b&amp;page=2" aria-current="page"');
    expect(pager.match(/aria-current/g)).toHaveLength(1);
  });

  it("has no link beyond its ends, and counts the rows that the last page has", async () => {
    const last = String(await renderPager({ ...FACTS, page: 43, total: 1060 }));
    expect(textOf(last)).toContain("1,051–1,060 of 1,060 projects");
    expect(last).not.toContain('rel="next"');
    expect(String(await renderPager({ ...FACTS, page: 1, total: 1060 }))).not.toContain('rel="prev"');
  });
});

const LABELS = { good: "Good", main: "Main docs fail", stuck: "Stuck builds" };
const near = (wrong: string) =>
  nearestChoices(wrong, Object.keys(LABELS) as (keyof typeof LABELS)[], (name) => LABELS[name]);

it.each([
  ["godo", ["good"]],
  ["main docs fial", ["main"]],
  ["Stuck build", ["stuck"]],
  ["xyzzyxyzzyxyzzy", []],
])("%j may mean %j, by a value or by its label, each once", (wrong, choices) => {
  expect(near(wrong)).toEqual(choices);
});

it("a value that is the label of another means itself", () => {
  const labelOf = (name: string) => (name === "other" ? "swap" : "else");
  expect(nearestChoices("swap", ["swap", "other"], labelOf)).toEqual(["swap"]);
});

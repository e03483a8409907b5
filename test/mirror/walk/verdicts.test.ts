import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type Course, createCourse } from "../../../src/mirror/walk/course.ts";
import {
  type PassVerdict,
  VERDICTS,
  type VerdictName,
  verdictOn,
  type WalkFacts,
} from "../../../src/mirror/walk/verdicts.ts";
import type { NextLink } from "../../../src/resources/page-request.ts";
import { expectDrawn } from "../../support/drawn-part.ts";

const NAMES = VERDICTS.map(({ name }) => name);
const LIST = "/api/v1/user/";
const link = (offset: number) => `${LIST}?limit=4&offset=${offset}`;

/** A page of a small example: ids as letters, where it leads, and what it counts. */
type ExamplePage = [
  ids: string,
  next: string | null,
  totalCount: number | null,
  more?: { count?: number; showsOrder?: boolean; limit?: number },
];

const SAME_PAGE_FOR_EVER = Array.from({ length: 53 }, (_, at): ExamplePage => ["abcd", link(4 * at + 4), 9]);
/** Each pass is in disorder, and shows records that no pass before it had shown. */
const EVERY_PASS_NEW: ExamplePage[] = ["efgh", "ijkl", "mnop", "qrst", "uvwx"].flatMap(([e, f, g, h]) => [
  ["abcd", link(4), 6],
  [`dc${e}${f}${g}${h}`, null, 8],
  [`c${g}${h}`, null, 8],
]);

/** The smallest walk that meets each row, at four records a page. `narrow` stands for a page that cannot be rendered. */
const EXAMPLES: Record<VerdictName, (ExamplePage | "narrow")[]> = {
  "pages too small": [
    ...SAME_PAGE_FOR_EVER.slice(0, 1),
    ["dcba", link(6), 9],
    ...SAME_PAGE_FOR_EVER.slice(2),
  ],
  "no end": SAME_PAGE_FOR_EVER,
  "no anchor": [
    ["abcd", link(4), 9],
    ["efgh", link(6), 9],
  ],
  "next is unclear": [["abcd", "", 9]],
  "next leaves the list": [["abcd", "/api/v1/project/?limit=4&offset=4", 9]],
  "next leads back": [["abcd", link(0), 9]],
  "empty page": [["", link(4), 9]],
  "next page": [["abcd", link(4), 9]],
  "end not shown": [["abcd", null, 4]],
  "no count": [["abc", null, null]],
  holes: ["narrow", "narrow", "narrow", ["b", null, 2], ["", null, 2]],
  "nothing shown": [["", null, 3]],
  "one reply": [["abc", null, 3]],
  "order shown": [
    ["abcd", link(4), 5, { showsOrder: true }],
    ["cde", null, 5, { showsOrder: true }],
  ],
  "still list": [
    ["abcd", link(4), 5],
    ["cde", null, 5],
  ],
  "two proven passes": [
    ["abcd", link(4), 6],
    ["bcde", link(6), 7],
    ["def", null, 7],
    ["abcd", link(4), 7],
    ["cdef", link(6), 7],
    ["ef", null, 6],
  ],
  "count met, nothing new": [
    ["abcd", link(4), 5],
    ["dce", null, 5],
    ["abcd", link(4), 5, { limit: 4 }],
    ["dce", null, 5, { limit: 4 }],
  ],
  "records without an id": [["ab", null, 3, { count: 3 }]],
  "count not met, nothing new": [
    ["abcd", link(4), 6],
    ["dce", null, 5],
    ["abcd", link(4), 6],
    ["dcee", link(6), 6],
    ["ee", null, 6],
  ],
  "passes used up": EVERY_PASS_NEW,
  "not proven yet": [
    ["abcd", link(4), 5],
    ["dce", null, 5],
  ],
};

describe("the rows of the verdict", () => {
  it("have names of their own", () => {
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });

  it.each(VERDICTS.map((row) => [row.name, row] as const))("%s: a walk meets it", (name, row) => {
    const course = play(EXAMPLES[name]);
    expect(course.verdict).toBe(name);
    const end = row.outcome === "whole" || row.outcome === "not_whole" ? row.outcome : undefined;
    expect(course.outcome?.walk).toBe(end);
  });
});

function play(pages: readonly (ExamplePage | "narrow")[]): Course {
  const isListPath = (path: string) => path === LIST;
  const course = createCourse({ resource: "user", listPath: LIST, pageSize: 4, isListPath });
  for (const page of pages) {
    if (page === "narrow") {
      course.narrow();
      continue;
    }
    const [letters, next, totalCount, more] = page;
    const meta = { limit: null, offset: null, next, totalCount, count: letters.length, showsOrder: false };
    course.read({ ids: [...letters], meta: { ...meta, ...more } });
  }
  return course;
}

/** Few values for each fact, so that they often meet. */
const few = fc.nat(3);
const OTHERS = ["unclear", "elsewhere", "back", "on"] as const;
const leads = fc.constantFrom<NextLink["leads"][]>("nowhere", "nowhere", "nowhere", ...OTHERS);
const mostly = (usual: boolean) => fc.oneof({ arbitrary: fc.constant(usual), weight: 4 }, fc.boolean());
const anyFacts: fc.Arbitrary<WalkFacts> = fc
  .record({
    at: fc.record({ path: fc.constant(LIST), limit: few, offset: few, others: fc.constant("format=json") }),
    count: few,
    countedTo: fc.option(fc.nat(6), { freq: 8 }),
    isFull: mostly(false),
    isEcho: mostly(true),
    startIsEnd: fc.boolean(),
    startRepeats: fc.constantFrom(0, 0, 1, 2),
    repeated: fc.constantFrom(0, 0, 1, 2),
    hasShortPages: fc.boolean(),
    freshOld: few,
    next: fc.record({ leads, text: fc.string(), limit: few, offset: few }),
    isAnchored: mostly(true),
    hasUnanchored: fc.boolean(),
    canGrow: fc.boolean(),
    newsPages: few,
    idlePages: fc.oneof(
      { arbitrary: few, weight: 6 },
      fc.integer({ min: 49, max: 55 }),
      fc.constant(1_000_000),
    ),
    isProven: fc.boolean(),
    showsOrder: fc.boolean(),
    isStill: fc.boolean(),
    hasGaps: fc.boolean(),
    covered: few,
    fresh: few,
    nameless: few,
    passes: fc.integer({ min: 1, max: 5 }),
    provenBefore: few,
    seen: few,
    totalCount: fc.option(fc.nat(4), { freq: 8 }),
    badTotal: fc.string(),
    hasMoved: fc.boolean(),
    holeCount: fc.oneof({ arbitrary: fc.constant(0), weight: 5 }, few),
    holes: fc.array(few, { maxLength: 3 }),
    /** Whether the counts are those of a list that stood still. By chance alone three in 20,000 would be. */
    isExact: fc.boolean(),
  })
  .map(({ idlePages, provenBefore, isExact, ...facts }) => {
    const places = facts.at.offset + facts.count;
    return {
      ...facts,
      ...(isExact && { countedTo: places, seen: places, repeated: 0, hasMoved: false }),
      pages: facts.newsPages + idlePages,
      provenPasses: facts.isProven ? provenBefore + 1 : 0,
    };
  });

/** The verdict once more, as questions that branch instead of rows in an order. */
function expectedRow(facts: WalkFacts): VerdictName {
  const { pages, newsPages, passes, isProven, fresh } = facts;
  // A record that stands twice on a page has two places.
  const seen = facts.seen + facts.repeated;
  const isPastBound = pages >= 1_000_000;
  if (isPastBound || pages > 50 + 2 * newsPages) {
    const mayHelp = !isProven || facts.hasGaps;
    return mayHelp && facts.canGrow && passes < 5 && !isPastBound ? "pages too small" : "no end";
  }
  if (!facts.isAnchored) return "no anchor";
  if (facts.next.leads !== "nowhere") {
    const hasRecords = facts.count > 0;
    const rows = {
      unclear: "next is unclear",
      elsewhere: "next leaves the list",
      back: "next leads back",
      on: hasRecords ? "next page" : "empty page",
    } as const;
    return rows[facts.next.leads];
  }
  const places = facts.at.offset + facts.count;
  const agrees = facts.countedTo === places;
  if (facts.count > 0) {
    if (facts.isFull) return "end not shown";
    const isDoubtful = facts.hasShortPages || (facts.countedTo !== null && !agrees);
    if (isDoubtful && !facts.isEcho) return "end not shown";
  }
  if (facts.totalCount === null) return "no count";
  if (facts.holeCount > 0) return "holes";
  if (facts.covered === 0 && facts.totalCount > 0) return "nothing shown";
  if (facts.seen > 0 && places === 0) return "nothing shown";
  const isMet = places <= facts.covered && !facts.hasUnanchored;
  const isOneReply = places <= facts.covered + facts.startRepeats && !facts.hasUnanchored;
  if (facts.startIsEnd && isOneReply) return "one reply";
  const isExact = seen === places && agrees && !facts.hasMoved;
  if (isProven) {
    if (facts.showsOrder) return "order shown";
    if (isExact && facts.isStill) return "still list";
    const isExplained = facts.hasShortPages || places <= seen + 2 * fresh;
    if (isExplained && facts.provenPasses >= 2 && facts.freshOld === 0) return "two proven passes";
  }
  if (fresh === 0 && (isMet || isExact)) return "count met, nothing new";
  if (places > seen && places <= seen + facts.nameless) return "records without an id";
  const isVain = !isProven || (facts.isStill && places > seen);
  if (passes >= 2 && fresh === 0 && isVain) return "count not met, nothing new";
  return passes === 5 ? "passes used up" : "not proven yet";
}

describe("whatever the facts", () => {
  /** Draws facts so often; gives the rows that were the first ones that apply. */
  function drawRows(numRuns: number): Set<VerdictName> {
    const met = new Set<VerdictName>();
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const applying = VERDICTS.filter((row) => row.applies(facts));
        expect(applying[0]?.name).toBe(expectedRow(facts));
        expect(verdictOn(facts)).toBe(applying[0]);
        met.add(verdictOn(facts).name);
      }),
      { numRuns },
    );
    return met;
  }

  it("the first row that applies is as expected", () => void drawRows(2000));
  it("each row is it for some", { tags: ["long"] }, () => {
    expect([...drawRows(20_000)].toSorted()).toEqual(NAMES.toSorted());
  });
});

/** UPDATE_DOCS=1 npx vitest run test/mirror/walk/verdicts.test.ts writes them. */
test("docs/internals/reliability.md shows the conditions and outcomes", () =>
  expectDrawn("internals/reliability.md", "verdicts", renderList(VERDICTS)));

function renderList(rows: readonly PassVerdict[]): string {
  return rows.map(({ when, outcome }, i) => `${i + 1}. ${outcome.replace("_", " ")}: ${when}\n`).join("");
}

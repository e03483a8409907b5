import { describe, expect, it, test } from "vitest";
import type { FetchedPage } from "../../../src/mirror/walk/page.ts";
import { createSections, type Section } from "../../../src/mirror/walk/sections.ts";
import { firstRequest, requestText } from "../../../src/resources/page-request.ts";

const LIMIT = 10;
const STEP = 8;
const TOTAL = 1000;

const at = (offset: number) => ({ ...firstRequest("/api/v1/build/", LIMIT), offset });

/** A page that shows the records of the old list from this place on. */
function page(first: number, offset: number, totalCount: number, known?: Section): FetchedPage {
  const ids = Array.from({ length: LIMIT }, (_, place) => `old${first + place}`);
  const meta = { limit: LIMIT, offset, next: null, totalCount, count: LIMIT, showsOrder: true };
  const moment = new Date(0);
  return {
    request: requestText(at(offset)),
    meta,
    ids,
    dates: null,
    records: known ? null : [],
    bodyHash: "",
    bytes: 1,
    tookMs: 1,
    askedAt: moment,
    observedAt: moment,
    ...(known && { known }),
  };
}

const section = (offset: number, seq: number): Section => {
  const { request, meta, ids, bodyHash } = page(offset, offset, TOTAL);
  return { request, meta, ids, bodyHash, at: at(offset), seq, loadedAt: "", runId: 1 };
};

const sectionsAt = (...offsets: number[]) => offsets.map(section);
const REGULAR = sectionsAt(0, 8, 16, 24, 32, 40);

function behind(earlier: Section[] | Sections, read: FetchedPage, offset = 0, pending: number[] = []) {
  const sections = Array.isArray(earlier) ? createSections(() => earlier) : earlier;
  return sections.behind(read, { at: at(offset), next: offset + STEP, step: STEP, pending, count: 4 });
}
type Sections = ReturnType<typeof createSections>;

describe("the next requests begin", () => {
  it("where they would, when there was no walk before", () => {
    expect(behind([], page(0, 0, TOTAL))).toEqual([8, 16, 24, 32]);
  });

  it.each([
    ["nothing came", 0, [8, 16, 24, 32]],
    ["three came in front", 3, [3, 11, 19, 27]],
    ["more than a page came in front", 13, [5, 13, 21, 29]],
    ["three went in front", -3, [5, 13, 21, 29]],
  ])("where the sections are now, when %s", (_, moved, expected) => {
    expect(behind(REGULAR, page(-moved, 0, TOTAL + moved))).toEqual(expected);
  });

  it("behind a known page as far from it as the sections are, whatever the count says", () => {
    expect(behind(REGULAR, page(8, 11, TOTAL + 999, REGULAR[1]), 11)).toEqual([19, 27, 35, 43]);
  });

  it("nearer when a record went from the page", () => {
    const sections = createSections(() => REGULAR);
    behind(sections, page(0, 0, TOTAL, REGULAR[0]));
    const read = page(8, 8, TOTAL - 1);
    read.ids.splice(3, 1);
    read.ids.push("old18");
    expect(behind(sections, read, 8)).toEqual([15, 23, 31, 39]);
  });

  it("where those are that were asked for ahead", () => {
    expect(behind(REGULAR, page(-3, 0, TOTAL + 3), 0, [8, 16])).toEqual([8, 16, 19, 27]);
  });

  it("without the short sections that earlier nights left at the head, so that no night adds a request", () => {
    expect(behind(sectionsAt(0, 3, 5, 13, 21, 29), page(-4, 0, TOTAL + 4))).toEqual([1, 9, 17, 25]);
  });

  it("where they would, when pages show no order, or are of another size", () => {
    const read = page(-3, 0, TOTAL + 3);
    const unordered = { ...read, meta: { ...read.meta, showsOrder: false } };
    expect(behind(REGULAR, unordered)).toEqual([8, 16, 24, 32]);
    const others = REGULAR.map((one) => ({ ...one, at: { ...one.at, limit: 50 } }));
    expect(behind(others, read)).toEqual([8, 16, 24, 32]);
  });
});

test("a walk begins earlier for two pages in all, and then goes on as without sections", () => {
  // Each section of this walk is one record further on than the page shows.
  const sections = createSections(() => REGULAR);
  let shifted = 0;
  for (let moved = 1; moved < 30; moved++) {
    const offset = STEP * moved;
    const [next = 0] = behind(sections, page(offset - moved, offset, TOTAL), offset);
    shifted += offset + STEP - next;
  }
  expect(shifted).toBeGreaterThan(0);
  expect(shifted).toBeLessThanOrEqual(2 * STEP);
});

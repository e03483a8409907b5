import { describe, expect, it } from "vitest";
import { type Course, type CourseOptions, createCourse } from "../../../src/mirror/walk/course.ts";
import type { PageFacts } from "../../../src/mirror/walk/pass.ts";
import { type PageRequest, requestText } from "../../../src/resources/page-request.ts";

const LIST = "/api/v1/user/";
function begin(pageSize = 4, more: Partial<CourseOptions> = {}): Course {
  const isListPath = (path: string) => path === LIST;
  return createCourse({ resource: "user", listPath: LIST, pageSize, isListPath, ...more });
}
function beginKnowing(highestId: number | null, pageSize = 4): Course {
  const course = begin(pageSize);
  if (highestId !== null) course.knowHighestId(highestId);
  return course;
}

const link = (limit: number, offset: number) => `${LIST}?format=json&limit=${limit}&offset=${offset}`;
/** What is asked for, as `limit@offset`; null at the end. */
const asked = ({ request }: Course) => request && `${request.limit}@${request.offset}`;
type Meta = Partial<PageFacts["meta"]>;
const facts = (ids: readonly string[], next: string | null, meta: Meta = {}): PageFacts => ({
  ids,
  meta: { limit: null, offset: null, next, totalCount: 10, count: ids.length, showsOrder: false, ...meta },
});
const withMeta = ({ ids, meta }: PageFacts, more: Meta): PageFacts => ({ ids, meta: { ...meta, ...more } });
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => String(from + at));

/** The reply of a service of this kind that holds this list at this moment. */
function replyOf(list: readonly string[], request: PageRequest, maxLimit = 1000): PageFacts {
  const limit = Math.min(request.limit, maxLimit);
  const end = request.offset + limit;
  const next = end < list.length ? link(limit, end) : null;
  return facts(list.slice(request.offset, end), next, { totalCount: list.length });
}

function exhaust(course: Course, reply: (request: PageRequest) => PageFacts): number {
  let pages = 0;
  for (; course.request; pages++) {
    if (pages > 5000) throw new Error("the course does not end");
    course.read(reply(course.request));
  }
  return pages;
}

const readOf = (course: Course, list: readonly string[]) =>
  course.read(replyOf(list, course.request as PageRequest));

/** Follows the course over a list that changes as `lists` says, one entry a page, the last one for all others. */
function follow(course: Course, lists: readonly (readonly string[])[], maxLimit = 1000): string[] {
  const trail: string[] = [];
  exhaust(course, (request) => {
    trail.push(asked(course) ?? "");
    return replyOf(lists[Math.min(trail.length, lists.length) - 1] ?? [], request, maxLimit);
  });
  return trail;
}

/** Reads pages whose ids are letters, with some of their meta the same. */
const reader =
  (course: Course, shared: Meta = {}) =>
  (ids: string, next: string | null, totalCount: number, more: Meta = {}) =>
    course.read(facts([...ids], next, { totalCount, ...shared, ...more }));

const WHOLE = { walk: "whole", reason: null };

describe("the course over a still list", () => {
  const again = "4@0 1@1 1@2 1@3 10@0 1@1 1@2 1@3";
  it.each([
    ["begins each page with the last records of the one before", 4, 10, 1000, "4@0 4@2 4@4 4@6 4@8"],
    ["asks for one page more behind a full one that has no next one", 4, 4, 1000, "4@0 4@2"],
    ["takes the limit of a server that clamps it", 1000, 25, 10, "1000@0 10@8 10@16"],
    ["at one record a page has no anchors: a second pass must say the same", 4, 3, 1, again],
  ])("%s, and is whole", (_, pageSize, records, maxLimit, trail) => {
    const course = begin(pageSize);
    expect(follow(course, [numbers(0, records)], maxLimit).join(" ")).toBe(trail);
    expect(course.outcome).toEqual({ ...WHOLE, totalCount: records, records });
    expect(course.verdict).toBe(trail === again ? "count met, nothing new" : "still list");
  });

  it("reads again a few records of each page, more of a large one", () => {
    const overlaps = { 2: 1, 3: 1, 4: 2, 10: 2, 100: 2, 101: 3, 500: 10, 1000: 20 };
    for (const [size, overlap] of Object.entries(overlaps)) {
      const pageSize = Number(size);
      const course = begin(pageSize);
      readOf(course, numbers(0, 3000));
      expect(asked(course)).toBe(`${pageSize}@${pageSize - overlap}`);
      expect(course.step).toBe(pageSize - overlap);
    }
  });

  it("needs two records a page at least", () => {
    expect(asked(begin(1))).toBe("2@0");
  });

  it.each([[[]], [["7"]], [numbers(0, 3)]])("is whole after one page that holds all of %j", (list) => {
    const course = begin();
    expect(follow(course, [list])).toEqual(["4@0"]);
    expect(course.outcome).toEqual({ ...WHOLE, totalCount: list.length, records: list.length });
    expect(course.verdict).toBe("one reply");
  });
});

describe("a list that shows some records twice", () => {
  /** The places of a list in which the records at these places stand twice, next to each other. */
  const doubled = (size: number, ...at: number[]) =>
    numbers(0, size).flatMap((id, place) => (at.includes(place) ? [id, id] : [id]));

  it("is whole where one reply holds all of it: an id that stands twice there fills two places", () => {
    const course = begin(50);
    expect(follow(course, [doubled(40, 30, 20, 5)])).toEqual(["50@0"]);
    expect(course.outcome).toMatchObject({ walk: "whole", records: 40, totalCount: 43 });
    expect(course.repeated).toBe(3);
  });

  it("is not whole where an id stands on two pages: it has moved, and another one may be missed", () => {
    // Of 12 records the last ones were not seen: `0` moved behind those that were read.
    const list = [...numbers(0, 8), "0", ...numbers(8, 11)];
    const course = begin(6, {});
    exhaust(course, (request) => replyOf(list, { ...request, limit: Math.min(6, request.limit) }, 6));
    expect(course.outcome).toMatchObject({ walk: "not_whole", records: 11 });
  });
});

describe("a page without an anchor", () => {
  /** Reads a list of 60 up to a page, then a list of another content until the trail is as long as told. */
  function readTo(course: Course, start: string, then: readonly string[], count: number): string[] {
    const full = numbers(0, 60);
    while (asked(course) !== start) readOf(course, full);
    const trail: string[] = [];
    for (let page = 0; page < count; page++) {
      readOf(course, then);
      trail.push(asked(course) ?? "");
    }
    return trail;
  }

  it("is asked for again further back, twice as far each time, until one is there", () => {
    const course = begin(4);
    // Nine records in front of the page are gone and as many came behind it, so the count says nothing.
    const rest = [...numbers(9, 60), ...numbers(100, 109)];
    expect(readTo(course, "4@16", rest, 1)).toEqual(["4@14"]);
    expect(course.isAnchored).toBe(false);
    expect(course.step).toBe(0);
    expect(course.verdict).toBe("no anchor");
    expect(readTo(course, "4@14", rest, 2)).toEqual(["4@10", "4@2"]);
    expect(course.isAnchored).toBe(false);
    expect(readTo(course, "4@2", rest, 1)).toEqual(["4@4"]);
    expect(course.isAnchored).toBe(true);
    expect(course.verdict).toBe("next page");
    // The next time it begins with a small step again.
    expect(readTo(course, "4@4", numbers(200, 260), 1)).toEqual(["4@2"]);
  });

  it("is asked for again as much further back as the count has fallen, but no more than a page", () => {
    expect(readTo(begin(8), "8@24", numbers(5, 60), 1)).toEqual(["8@17"]);
    expect(readTo(begin(8), "8@24", numbers(30, 60), 1)).toEqual(["8@14"]);
  });

  it("waits, and counts without being asked for again when the gap before it is closed", () => {
    const course = begin(8);
    // The page at 24 begins with 29; 26 to 28 were never shown.
    const rest = [...numbers(5, 60), ...numbers(100, 105)];
    expect(readTo(course, "8@24", rest, 1)).toEqual(["8@22"]);
    // It begins with 27, so 26 is still missing. Then 8@18 begins with 23 and reaches up to 30.
    expect(readTo(course, "8@22", rest, 2)).toEqual(["8@18", "8@30"]);
    expect(course.step).toBe(6);
    expect(course.verdict).toBe("next page");
    for (const id of numbers(0, 37)) expect(course.seen.has(id)).toBe(true);
    follow(course, [rest]);
    expect(course.outcome).toMatchObject({ walk: "whole", totalCount: 60 });
    for (const id of rest) expect(course.seen.has(id)).toBe(true);
  });
});

describe("a list that moved", () => {
  const before = numbers(0, 12);
  const after = ["new", ...before];

  it("is read again with pages ten times as large, and is whole when both passes are proven", () => {
    const course = beginKnowing(59);
    const long = numbers(0, 60);
    const grown = ["60", ...long];
    const trail = follow(course, [long, grown]);
    const second = trail.indexOf("40@0");
    expect(second).toBeGreaterThan(10);
    expect(trail.slice(second)).toEqual(["40@0", "40@38"]);
    expect(course.outcome).toEqual({ ...WHOLE, totalCount: 61, records: 61 });
    expect(course.verdict).toBe("two proven passes");
  });

  it.each([
    ["a lower id", 60, "60"],
    ["an id that is no number", 59, "new"],
    ["any id, on a first walk", null, "60"],
  ])("is read a third time when the second pass shows %s that is new", (_, highestKnownId, id) => {
    const course = beginKnowing(highestKnownId);
    const long = numbers(0, 60);
    const trail = follow(course, [long, [id, ...long]]);
    expect(trail.filter((one) => one.endsWith("@0"))).toEqual(["4@0", "40@0", "400@0"]);
    expect(course.outcome).toMatchObject({ ...WHOLE, records: 61 });
  });

  it("is read again at other places where its pages cannot be larger", () => {
    const course = beginKnowing(59, 10);
    const long = numbers(0, 60);
    const trail = follow(course, [long, ["60", ...long]], 10);
    expect(trail.slice(0, 3)).toEqual(["10@0", "10@8", "10@16"]);
    expect(trail.slice(8, 11)).toEqual(["100@0", "10@5", "10@13"]);
    expect(course.verdict).toBe("two proven passes");
  });

  it("never asks for more than a thousand records a page", () => {
    const course = beginKnowing(1499, 300);
    const list = numbers(0, 1500);
    const trail = follow(course, [list, ["1500", ...list]]);
    expect(trail).toContain("1000@0");
    expect(course.outcome).toMatchObject(WHOLE);
    expect(course.verdict).toBe("two proven passes");
  });

  it("is whole in one pass when its pages show their order", () => {
    const course = begin(4);
    let list = before;
    exhaust(course, (request) => {
      const reply = replyOf(list, request);
      list = after;
      return withMeta(reply, { showsOrder: true });
    });
    // The record that came in front was not seen; its growth explains it.
    expect(course.outcome).toEqual({ ...WHOLE, totalCount: 13, records: 12 });
    expect(course.verdict).toBe("order shown");
  });

  it("is read again when one page did not show its order", () => {
    const course = begin(4);
    for (let page = 0; course.request && asked(course) !== "40@0"; page++)
      course.read(withMeta(replyOf(page === 0 ? before : after, course.request), { showsOrder: page !== 2 }));
    expect(asked(course)).toBe("40@0");
    expect(course.verdict).toBe("not proven yet");
  });

  it("steps back once where a border has a single anchor, so that its order is shown", () => {
    const course = begin(4);
    const shown = reader(course, { showsOrder: true });
    shown("abcd", link(4, 4), 7);
    // One record in front of the page is gone.
    shown("def", null, 5);
    expect(course.verdict).toBe("no anchor");
    expect(asked(course)).toBe("4@0");
    // It reaches the page that waits.
    shown("bcde", link(4, 4), 5);
    expect(course.outcome).toMatchObject(WHOLE);
    expect(course.verdict).toBe("order shown");
  });

  it("shows its order by groups of equal dates, in any order within a group", () => {
    const course = begin(4);
    const shown = reader(course, { showsOrder: true });
    shown("abcd", link(4, 4), 7, { ties: [3] });
    // It reads on in front of both records of the last date.
    expect(asked(course)).toBe("4@1");
    shown("bdce", link(4, 5), 7, { ties: [2, 3] });
    expect(course.isAnchored).toBe(true);
    expect(course.verdict).toBe("next page");
    expect(asked(course)).toBe("4@2");
    shown("cedf", null, 7, { ties: [1, 2] });
    expect(course.isAnchored).toBe(false);
  });

  /** Each pass as its pages: what they show, by how much they lead on, and what they count. */
  const readPasses = (course: Course, ...passes: (readonly (readonly [ids: string, total: number])[])[]) => {
    const read = reader(course, { limit: 4 });
    for (const pass of passes) {
      for (const [at, [ids, total]] of pass.entries())
        read(ids, at < pass.length - 1 ? link(4, 4 + 2 * at) : null, total);
      expect(asked(course)).toBe("40@0");
    }
    expect(course.verdict).toBe("not proven yet");
  };

  it("needs two proven passes in a row: one behind a pass in disorder is not enough", () => {
    const course = begin(4);
    // One came in front of the second, so it is proven and not still, and nothing in it is new.
    readPasses(
      course,
      [
        ["abcd", 5],
        ["dce", 5],
      ],
      [
        ["abcd", 6],
        ["bcde", 6],
        ["de", 6],
      ],
    );
    course.read(facts([..."xabcde"], null, { totalCount: 6 }));
    expect(course.outcome).toMatchObject({ ...WHOLE, records: 6 });
    expect(course.verdict).toBe("one reply");
  });

  it("needs two proven passes in a row: a pass in disorder between them makes them count anew", () => {
    const proven = [
      ["abcd", 6],
      ["bcde", 7],
      ["def", 7],
    ] as const;
    const disordered = [
      ["xabc", 7],
      ["cbde", 7],
      ["ef", 6],
    ] as const;
    readPasses(begin(4), proven, disordered, [
      ["xabc", 7],
      ["abcd", 8],
      ["cdef", 8],
      ["ef", 8],
    ]);
  });
});

describe("a list without a fixed order", () => {
  it("at one record a page never lets a deleted record stand for one that was skipped", () => {
    const course = begin(2);
    for (let pass = 0; pass < 2; pass++) {
      // The list is a, hidden, c; then a is deleted, and before the next pass it returns.
      course.read(facts(["a"], link(1, 1), { totalCount: 3 }));
      course.read(facts(["c"], null, { totalCount: 2 }));
      course.read(facts([], null, { totalCount: 2 }));
    }
    expect(course.seen.has("hidden")).toBe(false);
    expect(course.outcome).toMatchObject({ walk: "not_whole", records: 2 });
    expect(course.verdict).toBe("count not met, nothing new");
  });
});

describe("total_count", () => {
  /** Reads nine records; what a page's meta says more. */
  const readNine = (course: Course, more: Meta) =>
    exhaust(course, (request) => withMeta(replyOf(numbers(0, 9), request), more));

  const WRONG = [0, 5, 16, Number.MAX_SAFE_INTEGER];
  it.each(
    WRONG.flatMap((count) => [true, false].map((shown) => [count, shown] as const)),
  )("that is wrong for good (%i) costs a request, and a second pass unless the order is shown: %s", (totalCount, showsOrder) => {
    const course = begin(4);
    const pages = readNine(course, { totalCount, showsOrder });
    expect(course.outcome).toEqual({ ...WHOLE, totalCount, records: 9 });
    expect(course.verdict).toBe(showsOrder ? "order shown" : "one reply");
    // Four pages hold the list, and the second pass is one page.
    expect(pages).toBe(showsOrder ? 5 : 7);
  });
});

describe("next", () => {
  const ELSEWHERE = ["next leaves the list", "next should stay on"];
  const BACK = ["next leads back", "next should lead on from offset 0, but leads to offset 0"];
  const UNCLEAR = ["next is unclear", "next should name a page by limit and offset"];
  it.each([
    ["another host", `http://elsewhere.invalid${link(4, 4)}`, ELSEWHERE],
    ["another host without a scheme", `//elsewhere.invalid${link(4, 4)}`, ELSEWHERE],
    ["another path", "/admin/?limit=4&offset=4", ELSEWHERE],
    ["another resource", "/api/v1/project/?limit=4&offset=4", ELSEWHERE],
    ["the same page", `${LIST}?limit=4&offset=0`, BACK],
    ["no limit", `${LIST}?offset=4`, UNCLEAR],
    ["nowhere", "", UNCLEAR],
    ["an offset that is no number", `${LIST}?limit=4&offset=x`, UNCLEAR],
  ])("to %s is not followed", (_, next, [verdict, reason]) => {
    const course = begin(4);
    course.read(facts(numbers(0, 4), next));
    expect(course.request).toBeNull();
    expect(course.outcome).toMatchObject({ walk: "not_whole", records: 4 });
    expect(course.verdict).toBe(verdict);
    expect(course.outcome?.reason).toContain(`user list: ${LIST}?format=json&limit=4: ${reason}`);
  });

  it("of any length is told in few words", () => {
    const course = begin(4);
    course.read(facts(numbers(0, 4), `/${"x".repeat(100_000)}?limit=4&offset=4`));
    expect(course.outcome?.reason?.length).toBeLessThan(500);
  });

  it.each([
    ...[0, 1, 1_000_000].map(
      (limit) => [`with another limit, ${limit},`, 4, 4, link(limit, 4), "4@2"] as const,
    ),
    ["that leaves records out", 4, 4, link(4, 400), "4@2"],
    ["behind a page that is too short", 10, 6, link(10, 10), "10@4"],
  ] as const)("%s is not followed beyond what came", (_, pageSize, count, next, expected) => {
    const course = begin(pageSize);
    course.read(facts(numbers(0, count), next));
    expect(asked(course)).toBe(expected);
  });

  it("with a filter, or on the same list by another name, changes nothing but the offset", () => {
    const course = begin(4, { isListPath: () => true });
    course.read(facts(numbers(0, 4), `http://h.invalid${LIST}?username=nobody&limit=4&offset=4`));
    expect(course.request && requestText(course.request)).toBe(link(4, 2));
  });

  it.each([
    ["goes on where some follow", numbers(28, 48), link(20, 48), "40@46", "next page"],
    ["ends when nothing follows", numbers(28, 30), null, null, "one reply"],
  ])("that is null on a page that was cut is asked again by a smaller page, and the list %s", (_, ids, next, following, verdict) => {
    const course = begin(40);
    course.read(facts(numbers(0, 30), null, { totalCount: 100 }));
    expect(asked(course)).toBe("20@28");
    expect(course.verdict).toBe("end not shown");
    course.read(facts(ids, next, { totalCount: 100 }));
    expect(asked(course)).toBe(following);
    expect(course.verdict).toBe(verdict);
    expect(course.outcome).toEqual(following ? null : { ...WHOLE, totalCount: 100, records: 30 });
  });

  it("behind a page that was cut to two records leaves one anchor, and the course steps back", () => {
    const course = begin(4);
    course.read(facts(numbers(0, 4), link(4, 4), { showsOrder: true }));
    course.read(facts(numbers(2, 4), link(4, 6), { showsOrder: true }));
    // It brought nothing new, so the next page begins further on.
    expect(asked(course)).toBe("4@3");
    course.read(facts(numbers(3, 5), link(4, 7), { showsOrder: true }));
    expect(asked(course)).toBe("4@1");
    expect(course.verdict).toBe("no anchor");
  });
});

describe("records without an id", () => {
  it("take no anchor from the page behind them", () => {
    const course = begin();
    const read = reader(course);
    read("abc", link(4, 4), 20, { count: 4 });
    read("hijk", link(4, 6), 20);
    expect([course.isAnchored, asked(course)]).toEqual([false, "4@0"]);
  });
});

describe("a page that cannot be rendered", () => {
  const offsets = (from: number, to: number) => numbers(from, to).map(Number);
  /** Follows a still list in which these offsets cannot be rendered. */
  function followWithHoles(course: Course, total: number, bad: readonly number[]): string[] {
    const trail: string[] = [];
    while (course.request) {
      const { offset, limit } = course.request;
      const isBad = bad.some((at) => at >= offset && at < offset + limit);
      trail.push(`${asked(course)}${isBad ? "!" : ""}`);
      if (isBad) {
        if (!course.narrow()) return [...trail, "gave up"];
      } else course.read(replyOf(numbers(0, total), course.request));
    }
    return trail;
  }

  it("is asked for in halves down to the record at fault, and the pages grow again behind it", () => {
    const course = begin(8);
    const trail = followWithHoles(course, 30, [5]);
    expect(trail.slice(0, 9)).toEqual(["8@0!", "4@0", "8@2!", "4@2!", "2@2", "4@3!", "2@3", "4@4!", "2@4!"]);
    expect(trail.slice(trail.indexOf("1@5!")).join(" ")).toBe("1@5! 1@6 2@7 4@8 8@10 8@16 8@22 8@28");
    for (const id of numbers(0, 30)) expect(course.seen.has(id)).toBe(id !== "5");
    const reason = expect.stringMatching(
      /^user list: \/api\/\S+: the service cannot render 1 of its records, at offset 5$/,
    );
    expect(course.outcome).toEqual({ walk: "not_whole", reason, totalCount: 30, records: 29 });
    expect(course.verdict).toBe("holes");
  });

  it("names the first twenty of its holes, none of which is asked for again", () => {
    const course = begin(4);
    const bad = offsets(0, 30).map((at) => at * 4);
    const trail = followWithHoles(course, 120, bad);
    for (const at of bad) expect(trail.filter((one) => one === `1@${at}!`)).toHaveLength(1);
    expect(course.outcome?.reason).toMatch(/cannot render 30 .* at offsets 0, 4, .*, 76, …$/);
  });

  it("gives up behind twenty holes side by side, not before", () => {
    const some = begin(4);
    followWithHoles(some, 40, offsets(10, 30));
    expect(some.outcome?.reason).toContain("cannot render 20 of its records");
    expect(some.seen.size).toBe(20);
    const all = begin(4);
    const trail = followWithHoles(all, 40, offsets(10, 31));
    expect(trail.slice(-2)).toEqual(["1@30!", "gave up"]);
    expect(all.outcome).toBeNull();
  });
});

describe("a walk that has rested", () => {
  /** Two pages of four of a list from 0 on, then a rest in which so many records came in front. */
  const rested = (by: number) => {
    const course = begin();
    for (let page = 0; page < 2; page++) readOf(course, numbers(0, 40));
    course.rest(by);
    return course;
  };

  it("needs an anchor where it goes on, and steps back to it", () => {
    const course = rested(10);
    expect(asked(course)).toBe("4@14");
    readOf(course, numbers(0, 40));
    expect(course.isAnchored).toBe(false);
    while (!course.isAnchored) readOf(course, numbers(0, 40));
    expect([course.covers("5"), course.covers("10"), course.seen.has("14")]).toEqual([true, false, true]);
  });

  it("steps back from a record that cannot be rendered, behind which no anchor would be needed", () => {
    const course = rested(10);
    for (let half = 0; half < 2; half++) course.narrow();
    expect(asked(course)).toBe("1@14");
    course.narrow();
    expect([asked(course), course.shift]).toEqual(["4@10", 10]);
  });
});

describe("a walk brought back from its pages", () => {
  it.each([
    ["of another offset", link(4, 40)],
    ["of an offset before", link(4, 0)],
    ["without a limit", `${LIST}?format=json&offset=2`],
    ["of no record", link(0, 2)],
    ["of another list", "/api/v1/project/?format=json&limit=4&offset=2"],
    ["that is no request", "nonsense"],
  ])("does not take a page %s", (_, request) => {
    const course = begin(4);
    course.read(facts(numbers(0, 4), link(4, 4)));
    expect(asked(course)).toBe("4@2");
    expect(course.replay({ ...facts(numbers(2, 6), null), request })).toBe(false);
  });

  it("does not take a page behind its end", () => {
    const course = begin(4);
    const only = { ...facts(["a"], null, { totalCount: 1 }), request: `${LIST}?format=json&limit=4` };
    expect(course.replay(only)).toBe(true);
    expect(course.outcome).toMatchObject(WHOLE);
    expect(course.replay(only)).toBe(false);
  });
});

import { describe, expect, it, test } from "vitest";
import { UnexpectedShapeError } from "../../../src/base/errors.ts";
import { parseListPage, tailOf } from "../../../src/mirror/walk/page.ts";
import { requestBehind } from "../../../src/mirror/walk/request-behind.ts";
import { firstRequest, type NextLink } from "../../../src/resources/page-request.ts";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";

const META = { limit: 20, next: null, offset: 0, previous: null, total_count: 2 };
const BASE = { baseUrl: new URL("http://h/"), sourceTimezone: "Etc/UTC" };
const parse = (value: unknown) => parseListPage(value, "user", "http://h/api/v1/user/", BASE);

describe("parsePage", () => {
  it("gives the numbers, the ids and the records of a page", () => {
    const objects = [{ id: "1" }, { id: 2 }, { name: "no id" }];
    expect(parse({ meta: META, objects })).toEqual({
      meta: { limit: 20, offset: 0, next: null, totalCount: 2, count: 3, showsOrder: false },
      ids: ["1", "2"],
      dates: null,
      records: objects,
    });
  });

  it("says whether builds show their order", () => {
    const objects = [
      { id: 2, date: "2026-01-02T00:00:00" },
      { id: 1, date: "2026-01-01T00:00:00" },
    ];
    const isShown = (builds: unknown[]) =>
      parseListPage({ meta: META, objects: builds }, "build", "", BASE).meta.showsOrder;
    expect(isShown(objects)).toBe(true);
    expect(isShown(objects.toReversed())).toBe(false);
  });

  it.each([null, "2 of 9", -1, 1.5, 1e300, {}])("takes a total_count of %j for none", (total_count) => {
    expect(parse({ meta: { ...META, total_count }, objects: [] }).meta.totalCount).toBeNull();
  });

  it.each([
    ["objects", { meta: META }],
    ["objects", { meta: META, objects: null }],
    ["meta", { objects: [] }],
    ["meta.next", { meta: { limit: 20 }, objects: [] }],
    ["the reply", [1]],
    ["the reply", null],
  ])("says that %s is not as it should be", (place, value) => {
    const parsing = () => parse(value);
    expect(parsing).toThrow(UnexpectedShapeError);
    expect(parsing).toThrow(`user list: GET http://h/api/v1/user/ should answer with a page`);
    expect(parsing).toThrow(place);
  });

  it.each([
    [1, true],
    [2, false],
  ])("with a single build on a page of users, of %i, is another list: %j", (total_count, isOther) => {
    const page = { meta: { ...META, total_count }, objects: [{ id: "1", resource_uri: "/api/v1/build/1/" }] };
    const parsing = () => parse(page);
    if (isOther) expect(parsing).toThrow("its records name themselves build");
    else expect(parsing()).toMatchObject({ ids: ["build/1"] });
  });

  it("keeps the place of a record of another resource, by an id that is none of the list's", () => {
    const objects = [
      { id: "1", resource_uri: "/api/v1/user/1/" },
      { id: "7", resource_uri: "http://h/api/v1/build/7/" },
    ];
    const expected = { ids: ["1", "build/7"], meta: { count: 2 }, records: objects };
    expect(parse({ meta: META, objects })).toMatchObject(expected);
  });
});

const builds = (...dates: unknown[]) => dates.map((date) => ({ date }));
const [LATE, MIDDLE, EARLY] = ["2026-01-03T10:00:00", "2026-01-02T10:00:00", "2025-12-31T23:59:59"];

/** What a page of these records says of its order. */
function orderOf(resource: Resource, objects: readonly unknown[]) {
  const { meta } = parseListPage({ meta: META, objects }, resource, "", BASE);
  return { showsOrder: meta.showsOrder, ...(meta.ties && { ties: meta.ties }) };
}

describe("the order of a page", () => {
  it.each([
    ["no builds", []],
    ["one build", builds(LATE)],
    ["dates that fall", builds(LATE, MIDDLE, EARLY)],
    ["dates that fall by a microsecond", builds("2026-01-03T10:00:00.000002", "2026-01-03T10:00:00.000001")],
    ["a fraction before none", builds("2026-01-03T10:00:00.5", LATE)],
  ])("is shown by %s", (_, records) => {
    expect(orderOf("build", records)).toEqual({ showsOrder: true });
  });

  it.each([
    ["two equal dates", builds(LATE, LATE), [1]],
    ["equal dates that are spelled in two ways", builds(LATE, "2026-01-03T10:00:00.000000"), [1]],
    ["two groups of equal dates", builds(LATE, LATE, MIDDLE, EARLY, EARLY, EARLY), [1, 4, 5]],
  ])("is shown with its ties by %s", (_, records, ties) => {
    expect(orderOf("build", records)).toEqual({ showsOrder: true, ties });
  });

  it.each([
    ["dates that rise", builds(MIDDLE, LATE)],
    ["dates that rise behind a tie", builds(MIDDLE, MIDDLE, LATE)],
    ["a date that is none", builds(LATE, "yesterday")],
    ["a date that is null", builds(null)],
    ["a date that is a number", builds(20_260_103)],
    ["a build without a date", [{}]],
    ["records that are none", [null, 3, "build"]],
  ])("is not shown by %s", (_, records) => {
    expect(orderOf("build", records)).toEqual({ showsOrder: false });
  });

  it.each(RESOURCES.filter((resource) => resource !== "build"))("is not shown by a %s list", (resource) => {
    expect(orderOf(resource, builds(LATE, MIDDLE))).toEqual({ showsOrder: false });
  });
});

test("gives the dates of builds as texts of one length, and none where one has no date", () => {
  const datesOf = (...dates: unknown[]) =>
    parseListPage({ meta: META, objects: builds(...dates) }, "build", "", BASE).dates;
  expect(datesOf(LATE, "2026-01-02T10:00:00.25", "2026-01-01T12:00:00+02:00")).toEqual([
    "2026-01-03T10:00:00.000000",
    "2026-01-02T10:00:00.250000",
    "2026-01-01T10:00:00.000000",
  ]);
  expect(datesOf(LATE, null)).toBeNull();
});

describe("the records at the end of a page that share their date", () => {
  it.each([
    [0, undefined, 0],
    [4, undefined, 1],
    [4, [3], 2],
    [4, [1, 3], 2],
    [4, [1, 2], 1],
    [4, [1, 2, 3], 4],
  ])("of %i records with ties %j are %i", (count, ties, tail) => {
    expect(tailOf(count, ties)).toBe(tail);
  });
});

/** How many of 100 records are read again behind a page whose last ones share their date. */
function readAgain(tied: number): number {
  const at = firstRequest("/api/v1/build/", 100);
  const ties = Array.from({ length: tied - 1 }, (_, index) => 101 - tied + index);
  const meta = { limit: 100, offset: 0, next: "more", totalCount: 3000, count: 100, showsOrder: true, ties };
  const next = { leads: "on", offset: 100 } as NextLink;
  const { offset } = requestBehind({
    at,
    page: { meta, ids: Array(100).fill("") },
    next,
    aim: 100,
    shiftAt: 0,
    isRepeated: false,
  });
  return 100 - offset;
}

test("reads again past the records that share the last date", () => {
  expect(readAgain(40)).toBe(41);
});

test("goes on where nearly all records of a page share one date, so that it comes on faster than records come at the head", () => {
  expect(readAgain(99)).toBe(2);
});

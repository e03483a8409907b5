import { describe, expect, it } from "vitest";
import { readOrder, tailOf } from "../../../src/mirror/walk/page.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";

const builds = (...dates: unknown[]) => dates.map((date) => ({ date }));
const [LATE, MIDDLE, EARLY] = ["2026-01-03T10:00:00", "2026-01-02T10:00:00", "2025-12-31T23:59:59"];

describe("the order of a page", () => {
  it.each([
    ["no builds", []],
    ["one build", builds(LATE)],
    ["dates that fall", builds(LATE, MIDDLE, EARLY)],
    ["dates that fall by a microsecond", builds("2026-01-03T10:00:00.000002", "2026-01-03T10:00:00.000001")],
    ["a fraction before none", builds("2026-01-03T10:00:00.5", LATE)],
  ])("is shown by %s", (_, records) => {
    expect(readOrder("build", records)).toEqual({ showsOrder: true });
  });

  it.each([
    ["two equal dates", builds(LATE, LATE), [1]],
    ["equal dates that are spelled in two ways", builds(LATE, "2026-01-03T10:00:00.000000"), [1]],
    ["two groups of equal dates", builds(LATE, LATE, MIDDLE, EARLY, EARLY, EARLY), [1, 4, 5]],
  ])("is shown with its ties by %s", (_, records, ties) => {
    expect(readOrder("build", records)).toEqual({ showsOrder: true, ties });
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
    expect(readOrder("build", records)).toEqual({ showsOrder: false });
  });

  it.each(RESOURCES.filter((resource) => resource !== "build"))("is not shown by a %s list", (resource) => {
    expect(readOrder(resource, builds(LATE, MIDDLE))).toEqual({ showsOrder: false });
  });
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
